// The verdicts of several studies on one board.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "study/results.h"

namespace attnlab {

// A study and where its README is, as seen from the board; empty if it has none. `unreadable` says why its
// results cannot be read, which then hold its name alone; empty where they can.
struct BoardEntry {
  StudyResults results;
  std::string readme, unreadable{};
};

// Their claims, "STUDY: CLAIM", with p-values corrected over all of them (Holm), so that a verdict may be
// more careful than in its study.
std::vector<ClaimVerdict> board_of(const std::vector<BoardEntry>& studies);

// How many claims hold, a table: study, claim, verdict, figures; and the studies that cannot be read, and
// why.
std::string board_markdown(const std::vector<BoardEntry>& studies);

// All studies that have results in EXPERIMENTS/*/results, in path order. The log warns of files that cannot
// be read.
std::vector<BoardEntry> kept_studies(const std::filesystem::path& experiments);

// Writes the board of kept_studies into EXPERIMENTS/README.md, which is begun if it is missing. Throws
// IoError.
void record_board(const std::filesystem::path& experiments);

}  // namespace attnlab
