#include "train/bleu.h"

#include "core/error.h"
#include "data/unicode.h"
#include "support/catch.h"
#include "support/golden.h"

using namespace attnlab;

namespace {

BleuSpec spec_of(const nlohmann::json& options) {
  BleuSpec spec;
  const std::string tokenize = options.value("tokenize", "13a");
  for (const BleuTokens tokens :
       {BleuTokens::thirteen_a, BleuTokens::intl, BleuTokens::character, BleuTokens::none}) {
    if (tokenize == to_string(tokens)) spec.tokenize = tokens;
  }
  const std::string smoothing = options.value("smooth_method", "exp");
  spec.smoothing = smoothing == "floor"   ? BleuSmoothing::floor
                   : smoothing == "add-k" ? BleuSmoothing::add_k
                   : smoothing == "none"  ? BleuSmoothing::none
                                          : BleuSmoothing::exp;
  if (options.contains("smooth_value")) spec.smooth_value = options["smooth_value"].get<double>();
  spec.lowercase = options.value("lowercase", false);
  spec.effective_order = options.value("effective_order", false);
  return spec;
}

std::string without_version(const std::string& signature) {
  return signature.substr(0, signature.find("|version:"));
}

}  // namespace

TEST_CASE("BLEU equals sacreBLEU on its edge cases") {
  int compared = 0;
  const nlohmann::json stored = golden("scores.json");
  for (const auto& corpus : stored["scores"]) {
    const auto hypotheses = corpus["hypotheses"].get<Lines>();
    const auto references = corpus["references"].get<std::vector<Lines>>();
    for (const auto& expected : corpus["results"]) {
      if (expected["metric"] != "bleu") continue;
      CAPTURE(corpus["name"], expected["options"].dump());
      const BleuSpec spec = spec_of(expected["options"]);
      const Score score = spec.corpus_score(hypotheses, references);
      CHECK(score.name == "BLEU");
      CHECK(score.value == Approx(expected["score"].get<double>()).margin(1e-9));
      CHECK(score.details + " " == expected["details"].get<std::string>() + " ");
      CHECK(without_version(score.signature) == without_version(expected["signature"]));
      ++compared;
    }
  }
  CHECK(compared == 21 * 15);
}

TEST_CASE("BLEU's tokenizations and lower case equal those of sacreBLEU and Python") {
  const nlohmann::json stored = golden("scores.json");
  for (const auto& expected : stored["tokens"]) {
    const auto line = expected["line"].get<std::string>();
    CAPTURE(line);
    CHECK(lowercased(line) == expected["lower"].get<std::string>());
    for (const BleuTokens tokens :
         {BleuTokens::thirteen_a, BleuTokens::intl, BleuTokens::character, BleuTokens::none}) {
      CAPTURE(to_string(tokens));
      CHECK(bleu_tokens(tokens, line) == expected[to_string(tokens)].get<Lines>());
    }
  }
}

TEST_CASE("scores refuse what cannot be compared") {
  const BleuSpec bleu;
  CHECK_THROWS_AS(bleu.corpus_score({"a", "b"}, {{"a"}}), DataError);
  CHECK_THROWS_AS(bleu.corpus_score({"a"}, {}), DataError);
  CHECK_THROWS_AS(bleu.corpus_score({}, {{}}), DataError);
  CHECK_THROWS_AS(bleu.corpus_score({"\xff"}, {{"a"}}), DataError);
}

TEST_CASE("registered scores are found by name") {
  CHECK(corpus_score("bleu", {"a b c d e"}, {"a b c d e"}).value == Approx(100));
  CHECK(corpus_score("chrf", {"a b c d e"}, {"a b c d e"}).value == Approx(100));
  CHECK(corpus_score("chrf++", {"a b c d e"}, {"a b c d e"}).name == "chrF2++");
  CHECK(corpus_score("exact_match", {"a b", "c", "d "}, {"a b", "x", "d"}).value == Approx(2.0 / 3));
  CHECK_THROWS(corpus_score("blue", {"a"}, {"a"}));
}
