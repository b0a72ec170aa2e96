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
// A line on the mark that some of them have; empty if none has.
std::string verdict_footnote(const std::vector<ClaimVerdict>& verdicts);
// The last columns are text, as is the first; the others are numbers.
std::string markdown_table(const std::vector<TableRow>& rows, std::size_t text_columns_at_end);
// Those in which runs were computed, "bf16" and "f32"; without those of which it is not known.
std::vector<std::string> precisions_of(const StudyResults& results);
std::vector<std::string> cpus_of(const StudyResults& results);
// Whether every run that was computed is of other code than the program's.
bool all_of_other_code(const StudyResults& results);

// "parts: test_bleu, mean over 3 seeds, …".
std::string table_title(const StudyResults& results);

}  // namespace attnlab
