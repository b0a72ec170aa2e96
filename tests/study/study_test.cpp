#include "study/study.h"

#include "config/error.h"
#include "study/axes.h"
#include "study/baselines.h"
#include "study/identity.h"
#include "support/catch.h"

using namespace attnlab;

namespace {

const std::string kBase = R"(
name: base
data: {task: {kind: reverse, train: 50, valid: 8, test: 8}}
model: {width: 16, heads: 2, layers: 1}
study:
  name: tried
)";

Study read(const std::string& rest, bool quick = false) {
  return read_study(Tree::parse(kBase + rest, "s.yaml"), quick);
}

std::string refusal(const std::string& rest) {
  try {
    read(rest);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::vector<std::string> names(const Study& study) {
  std::vector<std::string> list;
  for (const Arm& arm : study.arms) list.push_back(arm.name);
  return list;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("arms are overlays; axes make grids of them") {
  const Study study = read(R"(
  axes: {train.batch_tokens: [100, 200]}
  arms:
    base:
    small: {model: {width: 8}, axes: {model.layers: {from: 1, to: 3, step: 2}}}
)");
  CHECK(names(study) ==
        Names{"base-100", "base-200", "small-1-100", "small-1-200", "small-3-100", "small-3-200"});
  const auto spec = experiment_of(study.find("small-3-200")->configuration(7, 0.5));
  CHECK(spec->model.width == 8);
  CHECK(spec->model.stack.layers == 3);
  CHECK(spec->train.batch_tokens == 200);
  CHECK(spec->seed == 7);
  CHECK(spec->train.learning_rate == 0.5);
  CHECK(study.find("small-3-200")->baseline == "base-200");
  CHECK(study.find("small-3-100")->baseline == "base-100");
}

TEST_CASE("ranges are linear or logarithmic, and read as a person meant them") {
  const auto values = [](RangeSpec range) { return range.values(); };
  CHECK(values({.from = 1, .to = 2, .step = 0.25}) == std::vector<double>{1, 1.25, 1.5, 1.75, 2});
  CHECK(values({.from = 1e-4, .to = 1e-2, .count = 3, .log = true}) == std::vector<double>{1e-4, 1e-3, 1e-2});
  CHECK(values({.from = -1, .to = 1, .count = 3}) == std::vector<double>{-1, 0, 1});
}

TEST_CASE("a quick version lies on top, with expectations of its own") {
  const std::string text = R"(
  seeds: [1, 2, 3]
  arms: {base: {}, other: {model: {layers: 2}}}
  expect: {slow: {kind: band, arm: base, at_least: 0}}
  quick:
    train: {max_steps: 5}
    study: {seeds: [1], only: [base], expect: {fast: {kind: band, arm: base, at_least: 0}}}
)";
  CHECK(read(text).claims[0].name == "slow");
  const Study quick = read(text, true);
  CHECK(names(quick) == Names{"base"});
  CHECK(quick.spec.seeds == std::vector<std::int64_t>{1});
  REQUIRE(quick.claims.size() == 1);
  CHECK(quick.claims[0].name == "fast");
  CHECK(*experiment_of(quick.arms[0].tree)->train.max_steps == 5);
  CHECK(quick.folder_name() == "tried-quick");
}

TEST_CASE("what is wrong with a study is said with its place, all at once") {
  const std::string text =
      refusal("  arms: {a: {model: {widht: 3}}, b: {axes: {model.layers: []}}, c: {rates: [-1]}}\n");
  CHECK(text.find("s.yaml:7:22: error: unknown key 'model.widht', did you mean 'width'?") !=
        std::string::npos);
  CHECK(text.find("axis without values") != std::string::npos);
  CHECK(text.find("must be above 0") != std::string::npos);
  CHECK(refusal("  arms: {a: {axes: {model.heads: 4}}}\n").find("list of values or a range") !=
        std::string::npos);
  CHECK(refusal("  arms: {a: 3}\n").find("'study.arms.a' must be a section, found '3'") != std::string::npos);
  CHECK(refusal("  arms: [a]\n").find("section of named arms") != std::string::npos);
  CHECK(refusal("  seeds: [1]\n").find("neither arms nor axes") != std::string::npos);
  CHECK(refusal("  arms: {copy: {}}\n  controls: [copy]\n").find("two arms have the name 'copy'") !=
        std::string::npos);
  CHECK(refusal("  arms: {a: {}}\n  rates: {values: [1], seeds: [1]}\n").find("other seeds") !=
        std::string::npos);
  CHECK(refusal("  arms: {a: {}}\n  rates: {values: [1], choose_by: test_bleu}\n")
            .find("test set chooses nothing") != std::string::npos);
}

TEST_CASE("the identity of a run is its content, not its name") {
  const auto identity = [](const std::string& assignment) {
    Tree tree = Tree::parse("data: {task: {kind: reverse}}\nmodel: {layers: 1}\n");
    if (!assignment.empty()) tree.set(assignment);
    return identity_of(*experiment_of(tree), "hash");
  };
  const RunIdentity plain = identity("");
  for (const char* same :
       {"name=other", "data.root=/elsewhere", "train.log_every=7", "expect.score=3", "model.layers=1"}) {
    CHECK(identity(same).training == plain.training);
    CHECK(identity(same).scoring == plain.scoring);
  }
  CHECK(identity("decode.beam=9").training == plain.training);
  CHECK(identity("decode.beam=9").scoring != plain.scoring);
  for (const char* other :
       {"seed=2", "model.layers=2", "train.learning_rate=0.1", "model.encoder.layers=2", "precision=f64"})
    CHECK(identity(other).training != plain.training);
  CHECK(plain.code == code_digest());
  CHECK(plain.code.size() == 64);
}

TEST_CASE("baselines from the data: what no model is needed for") {
  const Task task = experiment_of(Tree::parse(R"(
data: {task: {kind: copy, symbols: 3, min_length: 2, max_length: 4, train: 60, valid: 10, test: 10}}
)"))
                        ->data.load();
  const auto all = baselines_of(task);
  REQUIRE(all.size() == 4);
  for (const Baseline& baseline : all) {
    if (baseline.name == "copy") CHECK(baseline.values.number("test_exact_match") == 1);
    if (baseline.name == "majority") CHECK(baseline.values.number("test_exact_match") < 0.5);
    if (baseline.name == "by_position") {
      CHECK(baseline.values.number("valid_accuracy") > 0.3);  // the end is always right
      CHECK(baseline.values.number("valid_accuracy") < 0.9);
    }
    if (baseline.name == "unigram") CHECK(baseline.values.number("valid_perplexity") < 8);
  }
}
