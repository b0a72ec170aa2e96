// What the runs of a study gave, by arm and seed, and what follows for each arm.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "train/record.h"

namespace attnlab {

struct RunResult {
  std::int64_t seed = 1;
  std::string status;  // "done", "early_stopped", "diverged", "failed", "missing"
  std::string error;   // why it failed
  std::string folder;
  std::string code;  // digest of the code that made it
  bool stale = false;
  std::string precision;  // "f32", "bf16" or "f64"; empty where nothing was computed or it is not known
  std::string cpu;        // that it was made on; empty likewise
  std::string content;    // what it is: configuration, data, precision and probes
  Record values;

  bool finished() const;
};

// The learning rates that an arm tried.
struct RateChoice {
  std::vector<double> rates, scores;  // mean validation score over the trial seeds; NaN where a rate failed
  double chosen = 0;
  bool at_edge = false;    // the best is the first or the last: there may be a better one beyond
  double basin_share = 0;  // of the rates that are about as good
  // Seeds of the trials, and the metric; empty in results of earlier versions.
  std::vector<std::int64_t> seeds;
  std::string chosen_by;
};

struct ArmResult {
  std::string name, note, baseline;
  bool control = false;
  std::optional<double> published;
  std::vector<std::pair<std::string, std::string>> point;
  std::int64_t parameters = 0;
  std::optional<RateChoice> rate;
  std::vector<RunResult> runs;

  // Finished values of a metric by seed.
  std::map<std::int64_t, double> values(const std::string& metric) const;
  const RunResult* find(std::int64_t seed) const;
};

enum class Decision { reproduced, not_reproduced, undecidable };

// At the end of ClaimVerdict::set where it holds.
inline constexpr const char* kJudgingChanged = "; the code that judges it changed after seeing";

// What became of one expectation.
struct ClaimVerdict {
  std::string claim, note, kind, metric;
  Decision decision = Decision::undecidable;
  std::string figures;
  double p_value = 0, corrected_p = 0, alpha = 0.05;  // NaN where nothing was tested
  Index seeds = 0;
  std::string hash;  // of what was expected
  std::string set;   // when it was: "before the run", "after seeing", …; see expectation_record.h
};

struct StudyResults {
  std::string name, question, source, metric, baseline;
  std::vector<std::string> columns;
  bool quick = false;
  std::vector<std::int64_t> seeds;
  std::vector<ArmResult> arms;
  std::vector<ClaimVerdict> verdicts;
  std::string expectations_hash;  // of all that the study expects
  Record environment;             // of one of its runs: cpu, isa, threads, …

  const ArmResult* find(std::string_view name) const;
};

struct Summary {
  Index n = 0;
  double mean = 0, sd = 0, sem = 0;  // sem: standard error of the mean; NaN where there are too few values
};
Summary summary_of(const ArmResult& arm, const std::string& metric);

// Whether two runs of a seed differ in what their arms differ in alone: one of bf16 and one of f32 do not. A
// precision that is not known may be any.
bool can_pair(const RunResult& run, const RunResult& other);

// For each seed for which all of these arms have the metric, each in one and the same precision: their
// values, in the order of the arms.
std::map<std::int64_t, std::vector<double>> joint_values(const std::vector<const ArmResult*>& arms,
                                                         const std::string& metric);

// The same of two arms.
std::vector<std::pair<double, double>> paired_values(const ArmResult& arm, const ArmResult& other,
                                                     const std::string& metric);

// This arm minus another, over the seeds that both have.
struct Comparison {
  std::vector<double> differences;
  double mean = 0, sd = 0, sem = 0;
  // Two-sided p that the mean difference is zero; NaN for fewer than two pairs, and where they do not vary,
  // as between runs in which nothing depends on the seed.
  double t_test = 1;
};
Comparison compare(const ArmResult& arm, const ArmResult& other, const std::string& metric);

// Whether larger values of a metric are better.
bool higher_is_better(const std::string& metric);

// Seconds that its finished runs took, together.
double seconds_of(const StudyResults& results);

// For people: one line an arm, and one a verdict.
std::string results_table(const StudyResults& results);
std::string verdict_board(const std::vector<ClaimVerdict>& verdicts);
std::string to_string(Decision decision);  // "reproduced", "not reproduced", "not decidable"

// One line a run with all its values.
std::string results_csv(const StudyResults& results);
// A tabular in booktabs style, one line an arm.
std::string results_latex(const StudyResults& results);
// Two Markdown tables, of arms and of verdicts, with a line about where they are from.
std::string results_markdown(const StudyResults& results);

std::string results_json(const StudyResults& results);
// The reverse. Throws IoError, with `where` in front.
StudyResults parse_results(const std::string& json, const std::string& where);

}  // namespace attnlab
