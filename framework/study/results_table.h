// The cells of the tables that results are shown in, whatever the form.
#pragma once

#include <string>
#include <vector>

#include "study/results.h"

namespace attnlab {

using TableRow = std::vector<std::string>;

// The first row is the head. Columns in which no arm has anything are left out; the last one is "notes" if
// any arm has one.
std::vector<TableRow> arm_rows(const StudyResults& results);
std::vector<TableRow> verdict_rows(const std::vector<ClaimVerdict>& verdicts);
// "parts: test_bleu, mean over 3 seeds, …".
std::string table_title(const StudyResults& results);

}  // namespace attnlab
