// Runs a study: every arm with every seed as a run of its own, in a process of its own, found again when it
// has been made before.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "study/kept_runs.h"
#include "study/results.h"
#include "study/study.h"

namespace attnlab {

struct StudyOptions {
  std::filesystem::path root = "runs";
  std::vector<std::string> program;  // what starts us, with options such as --load; the command is appended
  int jobs = 1;                      // runs at a time; they share the threads
  bool reuse_stale = false;          // take results of other code
  bool make_runs = true;             // false: judge what is there
  std::optional<double> budget;      // seconds; seeds that do not fit are left out
  // A second record of what was expected when, beside root/expectations: read where it is there, written on
  // request.
  std::filesystem::path record;
  bool write_record = false;
  KeptRuns kept;  // count as made where they are runs of this study
};

struct StudyOutcome {
  int exit_code = 0;  // 0: it ran, even if arms failed; 128 + n after signal n
  StudyResults results;
};

// Everything that can be told before a study runs: its runs, those that are there, the cost, the smallest
// effect that it could detect. Takes one step of training. Throws as run_study.
std::string preview_study(const Study& study, const StudyOptions& options);

// Logs to stderr; writes runs/NAME/study/results.json as runs end. Throws ConfigError, DataError and IoError
// before anything runs.
StudyOutcome run_study(const Study& study, const StudyOptions& options);

}  // namespace attnlab
