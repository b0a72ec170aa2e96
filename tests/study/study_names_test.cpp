// What a study makes of arms that are left out or misspelt.
#include "config/error.h"
#include "study/small_experiment.h"
#include "study/study.h"
#include "support/catch.h"

using namespace attnlab;

namespace {

Study read(const std::string& rest, const std::vector<std::string>& kept = {}) {
  return read_study(Tree::parse(kSmallExperiment + R"(
study:
  name: tried
  arms: {base: {}, small: {model: {width: 8}}, large: {model: {width: 32}}}
  expect:
    size helps: {kind: order, arms: [small, base, large]}
    large is better: {kind: difference, arm: large, at_least: 0}
    base learns: {kind: band, arm: base, at_least: 0}
)" + rest,
                                "s.yaml"),
                    false, kept);
}

}  // namespace

TEST_CASE("a claim on arms that are left out is known as one that is not judged") {
  const Study all = read("");
  CHECK(all.claims.size() == 3);
  CHECK(all.unjudged.empty());

  const Study some = read("  only: [base]\n");
  REQUIRE(some.claims.size() == 1);
  CHECK(some.claims[0].name == "base learns");
  REQUIRE(some.unjudged.size() == 2);
  CHECK(some.unjudged[0].name == "size helps");
  CHECK(some.unjudged[0].left_out == std::vector<std::string>{"small", "large"});
  CHECK(some.unjudged[1].name == "large is better");
  CHECK(some.unjudged[1].left_out == std::vector<std::string>{"large"});

  const Study kept = read("  only: [base]\n", {"large"});
  CHECK(kept.claims.size() == 2);
  REQUIRE(kept.unjudged.size() == 1);
  CHECK(kept.unjudged[0].left_out == std::vector<std::string>{"small"});
}

TEST_CASE("names that no arm has are reported together, wherever they stand") {
  std::string refusal;
  try {
    read(R"(    odd: {kind: order, arms: [smal, base]}
    even: {kind: band, arm: larg, at_least: 0}
  baseline: bse
  without: [nothing]
  probes: {entropy: {probe: attention_entropy, arms: [bas]}}
)");
  } catch (const ConfigError& error) {
    refusal = error.what();
  }
  for (const char* wanted : {"'smal', did you mean 'small'?", "'larg', did you mean 'large'?",
                             "'study.baseline': no arm has the name 'bse'", "'study.without'",
                             "'study.probes.entropy': no arm has the name 'bas'"})
    CHECK_THAT(refusal, containing(wanted));
}
