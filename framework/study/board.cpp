#include "study/board.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/error.h"
#include "study/expectation.h"
#include "study/record_results.h"
#include "study/results_table.h"
#include "train/durable_file.h"
#include "train/log.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

std::vector<BoardEntry> corrected(std::vector<BoardEntry> studies) {
  std::vector<ClaimVerdict*> all;
  for (BoardEntry& study : studies)
    for (ClaimVerdict& verdict : study.results.verdicts) all.push_back(&verdict);
  correct_together(all);
  return studies;
}

std::string linked(const BoardEntry& study) {
  const std::string& name = study.results.name;
  return study.readme.empty() ? name : fmt::format("[{}]({})", name, study.readme);
}

// The text without the folder of the experiments: a board that is kept names no path of one machine.
std::string seen_from(const fs::path& experiments, std::string text) {
  const std::string folder = (experiments / "").string();
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at))
    text.erase(at, folder.size());
  return text;
}

}  // namespace

std::vector<ClaimVerdict> board_of(const std::vector<BoardEntry>& studies) {
  std::vector<ClaimVerdict> verdicts;
  for (const BoardEntry& study : corrected(studies))
    for (ClaimVerdict verdict : study.results.verdicts) {
      verdict.claim = study.results.name + ": " + verdict.claim;
      verdicts.push_back(std::move(verdict));
    }
  return verdicts;
}

std::string board_markdown(const std::vector<BoardEntry>& studies) {
  std::vector<TableRow> rows;
  std::map<Decision, int> counts;
  std::string footnote;
  int judged = 0;
  for (const BoardEntry& study : corrected(studies)) {
    const std::vector<ClaimVerdict>& verdicts = study.results.verdicts;
    const std::vector<TableRow> own = verdict_rows(verdicts);
    if (rows.empty()) rows.push_back(own[0]), rows[0].insert(rows[0].begin(), "study");
    for (auto row = own.begin() + 1; row != own.end(); ++row) {
      rows.push_back(*row);
      rows.back().insert(rows.back().begin(), linked(study));
    }
    for (const ClaimVerdict& verdict : verdicts) ++counts[verdict.decision];
    if (footnote.empty()) footnote = verdict_footnote(verdicts);
    judged += !verdicts.empty();
  }
  std::string text = fmt::format("{} claims of {} studies:", rows.empty() ? 0 : rows.size() - 1, judged);
  for (const Decision decision : {Decision::reproduced, Decision::not_reproduced, Decision::undecidable})
    text += fmt::format("{} {} {}", decision == Decision::reproduced ? "" : ",", counts[decision],
                        to_string(decision));
  text += ". p-values are corrected over all of them (Holm).\n";
  if (rows.size() > 1) text += "\n" + markdown_table(rows, 3);
  if (!footnote.empty()) text += "\n" + footnote;
  std::string unreadable;
  for (const BoardEntry& study : studies)
    if (!study.unreadable.empty()) unreadable += fmt::format("- {}: {}\n", linked(study), study.unreadable);
  if (!unreadable.empty())
    text += "\nNot on the board, because their results cannot be read:\n\n" + unreadable;
  return text;
}

std::vector<BoardEntry> kept_studies(const fs::path& experiments) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& experiment : fs::directory_iterator(experiments, error))
    for (const auto& entry : fs::directory_iterator(experiment.path() / "results", error))
      if (entry.path().extension() == ".json" && entry.path().stem().extension() != ".expectations")
        files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<BoardEntry> studies;
  for (const fs::path& file : files) {
    const std::string experiment = file.parent_path().parent_path().filename().string();
    BoardEntry study{{}, experiment + "/README.md"};
    try {
      study.results = parse_results(read_small_file(file), file.string());
    } catch (const IoError& damage) {  // the other studies have their board all the same
      study.results.name = file.stem().string();
      study.unreadable = seen_from(experiments, damage.what());
      log_warning(std::string(damage.what()) + "; this study is not on the board");
    }
    studies.push_back(std::move(study));
  }
  return studies;
}

void record_board(const fs::path& experiments) {
  const fs::path readme = experiments / "README.md";
  const std::string text = fs::exists(readme) ? read_small_file(readme) : "# Experiments\n";
  write_durably(readme, with_results(text, "board", board_markdown(kept_studies(experiments))));
}

}  // namespace attnlab
