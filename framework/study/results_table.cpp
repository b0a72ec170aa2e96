#include "study/results_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace attnlab {
namespace {

using Row = TableRow;

constexpr const char* kMark = " †";  // of claims whose footnote is verdict_footnote

// Three or four digits that matter.
std::string short_text(double value) {
  if (std::isnan(value)) return "";
  if (value == std::round(value) && std::abs(value) < 1e12 && std::abs(value) >= 1000)
    return fmt::format("{:.0f}", value);
  const double size = std::abs(value);
  if (size < 1e-12) return "0";  // what rounding leaves of a difference
  if (size >= 1e5 || (size > 0 && size < 1e-3)) return fmt::format("{:.3g}", value);
  return size >= 1000 ? fmt::format("{:.0f}", value)
         : size >= 1  ? fmt::format("{:.2f}", value)
                      : fmt::format("{:.4f}", value);
}

std::string signed_text(double value) {
  const std::string text = short_text(value);
  return text.empty() || text == "0" || value < 0 ? text : "+" + text;
}

// "seed 1 in bf16, 2 in f32, 3 in f32", or "in bf16" for all; empty where nothing was computed.
std::string seeds_by(std::string RunResult::*property, const char* preposition, const ArmResult& arm) {
  std::string text;
  std::set<std::string> values;
  for (const RunResult& run : arm.runs) {
    const std::string& value = run.*property;
    if (value.empty()) continue;
    text += fmt::format("{}{} {} {}", text.empty() ? "seed " : ", ", run.seed, preposition, value);
    values.insert(value);
  }
  return values.size() == 1 ? fmt::format("{} {}", preposition, *values.begin()) : text;
}

std::vector<std::string> values_of(std::string RunResult::*property, const StudyResults& results) {
  std::set<std::string> found;
  for (const ArmResult& arm : results.arms)
    for (const RunResult& run : arm.runs)
      if (!(run.*property).empty()) found.insert(run.*property);
  return {found.begin(), found.end()};
}

// What is the same for all runs is said once, in the title or below it.
struct Uniform {
  bool precision = true, code = true, cpu = true;
};

std::string note_of(const ArmResult& arm, const Uniform& uniform) {
  std::string note = arm.note;
  const auto add = [&note](const std::string& text) { note += (note.empty() ? "" : "; ") + text; };
  for (const RunResult& run : arm.runs)
    if (!run.error.empty()) add(fmt::format("seed {}: {}", run.seed, run.error));
  const auto stale =
      std::count_if(arm.runs.begin(), arm.runs.end(), [](const auto& run) { return run.stale; });
  if (stale > 0 && !uniform.code) add(fmt::format("{} of other code", stale));
  if (!uniform.precision)
    if (const std::string seeds = seeds_by(&RunResult::precision, "in", arm); !seeds.empty()) add(seeds);
  if (!uniform.cpu)
    if (const std::string seeds = seeds_by(&RunResult::cpu, "on", arm); !seeds.empty()) add(seeds);
  if (arm.rate && arm.rate->chosen == 0)
    add("no rate worked");
  else if (arm.rate)
    add(fmt::format("rate {:.3g}{}, basin {:.0f} %", arm.rate->chosen, arm.rate->at_edge ? " (edge)" : "",
                    100 * arm.rate->basin_share));
  return note;
}

Row row_of(const StudyResults& results, const ArmResult& arm, const Uniform& uniform) {
  const Summary summary = summary_of(arm, results.metric);
  Row row{arm.name + (arm.control ? " (control)" : ""), std::to_string(summary.n), short_text(summary.mean),
          short_text(summary.sd), short_text(summary.sem)};
  const ArmResult* base = results.find(arm.baseline);
  const bool is_base = base == nullptr || base == &arm;
  const Comparison paired = is_base ? Comparison{} : compare(arm, *base, results.metric);
  row.push_back(is_base ? "" : signed_text(paired.mean));
  row.push_back(is_base ? "" : short_text(paired.sd));
  row.push_back(is_base || std::isnan(paired.t_test) ? "" : fmt::format("{:.2g}", paired.t_test));
  row.push_back(arm.published ? short_text(*arm.published) : "");
  row.push_back(!is_base && arm.published && base->published ? signed_text(*arm.published - *base->published)
                                                             : "");
  for (const auto& column : results.columns) row.push_back(short_text(summary_of(arm, column).mean));
  row.push_back(note_of(arm, uniform));
  return row;
}

// Those that the study names stay.
std::vector<Row> without_empty_columns(const std::vector<Row>& rows, const std::vector<std::string>& named) {
  std::vector<Row> result(rows.size());
  for (std::size_t column = 0; column < rows[0].size(); ++column) {
    const bool asked = std::find(named.begin(), named.end(), rows[0][column]) != named.end();
    const bool used =
        column == 0 || asked ||
        std::any_of(rows.begin() + 1, rows.end(), [column](const Row& row) { return !row[column].empty(); });
    for (std::size_t i = 0; used && i < rows.size(); ++i) result[i].push_back(rows[i][column]);
  }
  return result;
}

std::string text_of(const std::vector<Row>& rows, std::size_t text_columns_at_end) {
  std::vector<std::size_t> widths(rows[0].size());
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool left = i == 0 || i + text_columns_at_end >= row.size();
      line += (i ? "  " : "") +
              (left ? fmt::format("{:<{}}", row[i], widths[i]) : fmt::format("{:>{}}", row[i], widths[i]));
    }
    while (line.ends_with(' ')) line.pop_back();
    text += line + "\n";
  }
  return text;
}

Row row_of(const ClaimVerdict& verdict) {
  std::string figures = verdict.figures;
  if (!std::isnan(verdict.p_value)) {
    // Some kinds of claims say their p-value themselves.
    const bool said = figures.find("p = ") != std::string::npos;
    figures += said ? "" : fmt::format("; p = {:.2g}", verdict.p_value);
    figures += fmt::format(", corrected {:.2g}", verdict.corrected_p);
  }
  std::string set = verdict.set;
  if (set.ends_with(kJudgingChanged))
    set = set.substr(0, set.size() - std::string(kJudgingChanged).size()) + kMark;
  if (!set.empty()) figures += "; set " + set;
  return {verdict.claim, to_string(verdict.decision) + (verdict.seeds == 1 ? " (single seed)" : ""), figures};
}

// What the means are over. There may be fewer seeds than are meant, as long as a study is not complete.
std::string seeds_text(const StudyResults& results) {
  const std::size_t meant = results.seeds.size();
  std::size_t made = 0;
  for (const ArmResult& arm : results.arms)
    if (!arm.control) made = std::max(made, arm.values(results.metric).size());
  if (meant == 1) return "a single seed: no spread is known";
  if (made == 1) return fmt::format("a single seed of {} so far: no spread is known", meant);
  return fmt::format("mean over {}{} seeds, differences paired by seed",
                     made < meant ? fmt::format("{} of ", made) : "", meant);
}

}  // namespace

std::string to_string(Decision decision) {
  return decision == Decision::reproduced       ? "reproduced"
         : decision == Decision::not_reproduced ? "not reproduced"
                                                : "not decidable";
}

std::string verdict_board(const std::vector<ClaimVerdict>& verdicts) {
  return verdicts.empty() ? "" : text_of(verdict_rows(verdicts), 3) + verdict_footnote(verdicts);
}

std::string verdict_footnote(const std::vector<ClaimVerdict>& verdicts) {
  const bool marked = std::any_of(verdicts.begin(), verdicts.end(),
                                  [](const auto& verdict) { return verdict.set.ends_with(kJudgingChanged); });
  return marked ? std::string(kMark + 1) +
                      " The code that judges this claim has changed since results were seen.\n"
                : "";
}

bool all_of_other_code(const StudyResults& results) {
  bool some = false;
  for (const ArmResult& arm : results.arms)
    for (const RunResult& run : arm.runs) {
      if (run.code.empty()) continue;
      if (!run.stale) return false;
      some = true;
    }
  return some;
}

std::vector<std::string> precisions_of(const StudyResults& results) {
  return values_of(&RunResult::precision, results);
}

std::vector<std::string> cpus_of(const StudyResults& results) { return values_of(&RunResult::cpu, results); }

std::vector<TableRow> arm_rows(const StudyResults& results) {
  Row head{"arm", "n", results.metric, "sd", "s.e.m.", "diff", "sd(diff)", "p", "published", "diff(publ)"};
  head.insert(head.end(), results.columns.begin(), results.columns.end());
  head.emplace_back("notes");
  std::vector<Row> rows{head};
  const Uniform uniform{precisions_of(results).size() < 2, all_of_other_code(results),
                        cpus_of(results).size() < 2};
  for (const ArmResult& arm : results.arms) rows.push_back(row_of(results, arm, uniform));
  return without_empty_columns(rows, results.columns);
}

std::vector<TableRow> verdict_rows(const std::vector<ClaimVerdict>& verdicts) {
  std::vector<Row> rows{{"claim", "verdict", "figures"}};
  for (const ClaimVerdict& verdict : verdicts) rows.push_back(row_of(verdict));
  return rows;
}

std::string table_title(const StudyResults& results) {
  return results.name + (results.quick ? " (quick)" : "") + ": " + results.metric + ", " +
         seeds_text(results) + "; compared with '" + results.baseline + "'" +
         (all_of_other_code(results) ? "; all runs made by other code than judged them" : "");
}

std::string results_table(const StudyResults& results) {
  std::string text = table_title(results) + "\n";
  if (!results.source.empty()) text += "published: " + results.source + "\n";
  const std::vector<Row> rows = arm_rows(results);
  text += text_of(rows, rows[0].back() == "notes" ? 1 : 0);
  if (!results.verdicts.empty()) text += "\n" + verdict_board(results.verdicts);
  return text;
}

}  // namespace attnlab
