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
// Those in which runs were computed, "bf16" and "f32"; without those of which it is not known.
std::vector<std::string> precisions_of(const StudyResults& results);

// "parts: test_bleu, mean over 3 seeds, …".
std::string table_title(const StudyResults& results);

}  // namespace attnlab
