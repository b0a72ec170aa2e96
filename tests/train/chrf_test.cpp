#include "train/chrf.h"

#include "core/error.h"
#include "support/catch.h"
#include "support/golden.h"

using namespace attnlab;

TEST_CASE("chrF equals sacreBLEU on its edge cases") {
  int compared = 0;
  const nlohmann::json stored = golden("scores.json");
  for (const auto& corpus : stored["scores"]) {
    const auto hypotheses = corpus["hypotheses"].get<Lines>();
    const auto references = corpus["references"].get<std::vector<Lines>>();
    for (const auto& expected : corpus["results"]) {
      if (expected["metric"] != "chrf") continue;
      const auto& options = expected["options"];
      CAPTURE(corpus["name"], options.dump());
      ChrfSpec spec;
      spec.char_order = options.value("char_order", 6);
      spec.word_order = options.value("word_order", 0);
      spec.beta = options.value("beta", 2);
      spec.lowercase = options.value("lowercase", false);
      spec.whitespace = options.value("whitespace", false);
      const Score score = spec.corpus_score(hypotheses, references);
      CHECK(score.name == expected["name"].get<std::string>());
      CHECK(score.value == Approx(expected["score"].get<double>()).margin(1e-9));
      const auto signature = expected["signature"].get<std::string>();
      CHECK(score.signature ==
            signature.substr(0, signature.find("|version:")) + "|version:" + score_version());
      ++compared;
    }
  }
  CHECK(compared == 21 * 7);
}

TEST_CASE("chrF refuses what cannot be compared") {
  const ChrfSpec chrf;
  CHECK_THROWS_AS(chrf.corpus_score({"a", "b"}, {{"a"}}), DataError);
  CHECK_THROWS_AS(chrf.corpus_score({"\xff"}, {{"a"}}), DataError);
}
