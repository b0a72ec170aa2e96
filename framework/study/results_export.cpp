// Results for further work: CSV, LaTeX, Markdown.
#include <fmt/format.h>

#include <algorithm>

#include "study/results_table.h"

namespace attnlab {
namespace {

// All names of values, in the order in which they first occur.
std::vector<std::string> value_names(const StudyResults& results) {
  std::vector<std::string> names;
  for (const ArmResult& arm : results.arms)
    for (const RunResult& run : arm.runs)
      for (const auto& [name, value] : run.values.fields())
        if (name != "status" && std::find(names.begin(), names.end(), name) == names.end())
          names.push_back(name);
  return names;
}

std::vector<std::string> axis_names(const StudyResults& results) {
  std::vector<std::string> names;
  for (const ArmResult& arm : results.arms)
    for (const auto& [key, value] : arm.point)
      if (std::find(names.begin(), names.end(), key) == names.end()) names.push_back(key);
  return names;
}

std::string escaped(const std::string& text, const std::string& special, const std::string& with) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string::npos) result += with;
    result += c;
  }
  return result;
}

std::string for_latex(const std::string& text) {
  std::string result;
  for (const char c : escaped(text, "&%$#_{}", "\\")) {
    if (c == '~')
      result += "\\textasciitilde{}";
    else if (c == '^')
      result += "\\textasciicircum{}";
    else
      result += c;
  }
  return result;
}

std::string text_in(const Record& record, const char* name) {
  const RecordValue* value = record.find(name);
  return value ? to_csv_field(*value) : "unknown";
}

// Where the runs do not say what they were made on, that of the last judgement stands for it.
std::string cpus_text(const StudyResults& results) {
  const std::vector<std::string> cpus = cpus_of(results);
  return cpus.empty() ? text_in(results.environment, "cpu") : fmt::format("{}", fmt::join(cpus, " and "));
}

}  // namespace

std::string markdown_table(const std::vector<TableRow>& rows, std::size_t text_columns_at_end) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += "|";
    for (const std::string& cell : rows[i]) text += " " + escaped(cell, "|", "\\") + " |";
    text += "\n";
    if (i > 0) continue;
    text += "|";
    for (std::size_t column = 0; column < rows[0].size(); ++column)
      text += column == 0 || column + text_columns_at_end >= rows[0].size() ? "---|" : "---:|";
    text += "\n";
  }
  return text;
}

std::string results_csv(const StudyResults& results) {
  const std::vector<std::string> axes = axis_names(results), names = value_names(results);
  std::string text = "study,arm,seed,status,control,rate,parameters,published";
  for (const std::string& axis : axes) text += "," + to_csv_field(axis);
  for (const std::string& name : names) text += "," + to_csv_field(name);
  text += "\n";
  for (const ArmResult& arm : results.arms) {
    for (const RunResult& run : arm.runs) {
      text += fmt::format("{},{},{},{},{},{},{},{}", to_csv_field(results.name), to_csv_field(arm.name),
                          run.seed, run.status, arm.control, arm.rate ? to_csv_field(arm.rate->chosen) : "",
                          arm.parameters > 0 ? std::to_string(arm.parameters) : "",
                          arm.published ? to_csv_field(*arm.published) : "");
      for (const std::string& axis : axes) {
        const auto found = std::find_if(arm.point.begin(), arm.point.end(),
                                        [&axis](const auto& value) { return value.first == axis; });
        text += "," + (found == arm.point.end() ? "" : to_csv_field(found->second));
      }
      for (const std::string& name : names) {
        const RecordValue* value = run.values.find(name);
        text += "," + (value ? to_csv_field(*value) : "");
      }
      text += "\n";
    }
  }
  return text;
}

std::string results_latex(const StudyResults& results) {
  const std::vector<TableRow> rows = arm_rows(results);
  const bool notes = rows[0].back() == "notes";
  std::string text = "% " + table_title(results) + "\n\\begin{tabular}{l" +
                     std::string(rows[0].size() - (notes ? 2 : 1), 'r') + (notes ? "l" : "") +
                     "}\n\\toprule\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t column = 0; column < rows[i].size(); ++column)
      text += (column ? " & " : "") + for_latex(rows[i][column]);
    text += i == 0 ? " \\\\\n\\midrule\n" : " \\\\\n";
  }
  return text + "\\bottomrule\n\\end{tabular}\n";
}

std::string results_markdown(const StudyResults& results) {
  const std::vector<TableRow> rows = arm_rows(results);
  const std::vector<std::string> precisions = precisions_of(results);
  std::string text = table_title(results) + ".";
  if (!results.source.empty()) text += " Published: " + results.source + ".";
  text += fmt::format(" {:.1f} hours of runs on {}, {} threads{}.\n\n", seconds_of(results) / 3600,
                      cpus_text(results), text_in(results.environment, "threads"),
                      precisions.empty() ? "" : fmt::format(", {}", fmt::join(precisions, " and ")));
  text += markdown_table(rows, rows[0].back() == "notes" ? 1 : 0);
  if (results.verdicts.empty()) return text;
  text += "\n" + markdown_table(verdict_rows(results.verdicts), 2);
  if (const std::string footnote = verdict_footnote(results.verdicts); !footnote.empty())
    text += "\n" + footnote;
  return text;
}

}  // namespace attnlab
