#include "study/board.h"

#include <cmath>

#include "data/files.h"
#include "study/scored_arm.h"
#include "support/catch.h"
#include "support/scratch.h"
#include "train/durable_file.h"
#include "train/log.h"

using namespace attnlab;

namespace {

// A study with one claim that holds with this p-value, NaN if nothing was tested.
BoardEntry study_with(const std::string& name, double p_value, const std::string& readme) {
  BoardEntry study;
  study.results.name = name;
  study.readme = readme;
  ClaimVerdict verdict;
  verdict.claim = "it is so";
  verdict.decision = Decision::reproduced;
  verdict.figures = "1 of 1";
  verdict.p_value = verdict.corrected_p = p_value;
  verdict.seeds = 3;
  study.results.verdicts = {verdict};
  return study;
}

}  // namespace

TEST_CASE("a board corrects p-values over all of its studies") {
  const auto alone = board_of({study_with("a", 0.03, "")});
  REQUIRE(alone.size() == 1);
  CHECK(alone[0].claim == "a: it is so");
  CHECK(alone[0].decision == Decision::reproduced);
  const auto both = board_of({study_with("a", 0.03, ""), study_with("b", 0.001, "")});
  REQUIRE(both.size() == 2);
  CHECK(both[0].corrected_p == Approx(0.03));
  CHECK(both[1].corrected_p == Approx(0.002));
  const auto three =
      board_of({study_with("a", 0.03, ""), study_with("b", 0.04, ""), study_with("c", 0.001, "")});
  REQUIRE(three.size() == 3);
  CHECK(three[0].corrected_p == Approx(0.06));
  CHECK(three[0].decision == Decision::undecidable);
  CHECK(three[2].decision == Decision::reproduced);
}

TEST_CASE("a board in Markdown counts claims and leads to the studies") {
  BoardEntry without_claims = study_with("c", 0.5, "");
  without_claims.results.verdicts.clear();
  CHECK(board_markdown({study_with("a", NAN, "x/README.md"), without_claims, study_with("b", 0.001, "")}) ==
        "2 claims of 2 studies: 2 reproduced, 0 not reproduced, 0 not decidable. p-values are corrected over "
        "all of "
        "them (Holm).\n\n"
        "| study | claim | verdict | figures |\n|---|---|---|---|\n"
        "| [a](x/README.md) | it is so | reproduced | 1 of 1 |\n"
        "| b | it is so | reproduced | 1 of 1; p = 0.001, corrected 0.001 |\n");
  CHECK(board_markdown({without_claims}).starts_with("0 claims of 0 studies: 0 reproduced"));
}

TEST_CASE("results that cannot be read are named on the board, without the folder, and the others stay") {
  silence_log(true);
  const ScratchFolder scratch;
  const auto experiments = scratch.path() / "experiments";
  write_file(experiments / "a" / "results" / "sound.json",
             results_json(study_with("sound", 0.001, "").results));
  write_file(experiments / "b" / "results" / "cut.json", R"({"study": "cut", "arms": [)");
  std::filesystem::create_directories(experiments / "c" / "results" / "folder.json");
  const auto studies = kept_studies(experiments);
  REQUIRE(studies.size() == 3);
  CHECK(studies[0].unreadable.empty());
  CHECK(studies[1].unreadable.starts_with("b/results/cut.json: no results of a study: "));
  record_board(experiments);
  const std::string board = read_small_file(experiments / "README.md");
  CHECK(board.find("1 claims of 1 studies: 1 reproduced") != std::string::npos);
  CHECK(board.find("| [sound](a/README.md) | it is so | reproduced |") != std::string::npos);
  CHECK(board.find("cannot be read:\n\n- [cut](b/README.md): b/results/cut.json: ") != std::string::npos);
  CHECK(board.find("\n- [folder](c/README.md): cannot read c/results/folder.json: ") != std::string::npos);
  CHECK(board.find(scratch.path().string()) == std::string::npos);
}
