#include "train/bootstrap.h"

#include "core/error.h"
#include "support/catch.h"
#include "support/golden.h"
#include "train/bleu.h"
#include "train/chrf.h"

using namespace attnlab;

namespace {

struct Case {
  nlohmann::json values = golden("scores.json")["bootstrap"];
  std::vector<Lines> references{values["references"].get<Lines>()};
  std::vector<SegmentStatistics> baseline(const ScoreSpec& spec) const {
    return spec.statistics(values["baseline"].get<Lines>(), references);
  }
  std::vector<SegmentStatistics> system(const ScoreSpec& spec) const {
    return spec.statistics(values["system"].get<Lines>(), references);
  }
};

void check_equal(const BootstrapResult& result, const nlohmann::json& expected) {
  CHECK(result.score == Approx(expected["score"].get<double>()).margin(1e-4));
  CHECK(result.mean == Approx(expected["mean"].get<double>()).margin(1e-4));
  CHECK(result.interval == Approx(expected["interval"].get<double>()).margin(1e-4));
}

}  // namespace

TEST_CASE("paired bootstrap equals sacreBLEU's when it draws the same segments") {
  const Case stored;
  const auto draws = stored.values["draws"].get<std::vector<std::vector<Index>>>();
  const Draw draw = [&draws](Index resample, Index place) {
    return draws[static_cast<std::size_t>(resample)][static_cast<std::size_t>(place)];
  };
  const BleuSpec bleu;
  const ChrfSpec chrf;
  for (const ScoreSpec* const spec :
       {static_cast<const ScoreSpec*>(&bleu), static_cast<const ScoreSpec*>(&chrf)}) {
    const auto& expected = stored.values[spec == &bleu ? "bleu" : "chrf"];
    const PairedBootstrap result =
        paired_bootstrap(*spec, stored.baseline(*spec), stored.system(*spec), 200, draw);
    check_equal(result.baseline, expected[0]);
    check_equal(result.system, expected[1]);
    CHECK(result.p_value == Approx(expected[1]["p"].get<double>()));
  }
}

TEST_CASE("the bootstrap's own draws agree with sacreBLEU within the noise of resampling") {
  const Case stored;
  const BleuSpec bleu;
  const BootstrapOptions options{.resamples = 2000};
  const PairedBootstrap result = paired_bootstrap(bleu, stored.baseline(bleu), stored.system(bleu), options);
  const auto& expected = stored.values["bleu"][1];
  CHECK(result.p_value == Approx(expected["p"].get<double>()).margin(0.12));
  CHECK(result.system.mean == Approx(expected["mean"].get<double>()).margin(1.5));
  CHECK(result.system.interval == Approx(expected["interval"].get<double>()).epsilon(0.2));
  const BootstrapResult alone = bootstrap(bleu, stored.system(bleu), options);
  CHECK(alone.mean == result.system.mean);  // the same draws
  CHECK(alone.interval == result.system.interval);
}

TEST_CASE("a system against itself is not different, a far better one is") {
  Lines references, perfect, poor;
  for (int i = 0; i < 40; ++i) {
    references.push_back("sentence number " + std::to_string(i) + " of the test set");
    perfect.push_back(references.back());
    poor.push_back(i % 3 == 0 ? references.back() : "something else that shares a test set");
  }
  const BleuSpec bleu;
  const auto a = bleu.statistics(poor, {references}), b = bleu.statistics(perfect, {references});
  CHECK(paired_bootstrap(bleu, a, b, {}).p_value < 0.01);
  CHECK(paired_bootstrap(bleu, a, a, {}).p_value == 1);
  CHECK(paired_bootstrap(bleu, b, b, {}).baseline.interval == 0);
}

TEST_CASE("bootstrap refuses unequal or empty test sets") {
  const BleuSpec bleu;
  const auto one = bleu.statistics({"a"}, {{"a"}}), two = bleu.statistics({"a", "b"}, {{"a", "b"}});
  CHECK_THROWS_AS(paired_bootstrap(bleu, one, two, {}), DataError);
  CHECK_THROWS_AS(bootstrap(bleu, {}, {}), DataError);
}
