// What a report is drawn from beside the files of the runs themselves: how their configurations differ,
// paired tests of two runs, attention of some sentences. tools/report draws it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/dtype.h"

namespace attnlab {

struct ReportRequest {
  std::vector<std::filesystem::path>
      inputs;                            // run folders, checkpoints, study folders, results.json of a study
  Index views = 4;                       // runs of which the attention is shown, at most
  Index sentences = 6;                   // of each
  std::string text;                      // a file of sentences; empty: from the validation split
  bool every_checkpoint = false;         // that a run has kept, beside the weights it is scored with
  std::vector<std::string> assignments;  // on top of the runs' configurations, such as data.root=…
};

// Writes `folder`/report.json and the probes' files below it. What is missing, damaged or half finished is no
// error: it is named in the report. Throws ConfigError if nothing at all can be reported, IoError.
void gather_report(const ReportRequest& request, const std::filesystem::path& folder);

}  // namespace attnlab
