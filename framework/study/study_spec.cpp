#include "study/study_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace attnlab {
namespace {

template <class T>
bool all_different(const std::vector<T>& values) {
  return std::set<T>(values.begin(), values.end()).size() == values.size();
}

}  // namespace

void RatesSpec::fields(Fields& f) {
  f("values", values, above(0),
    "learning rates that each arm tries, three or more; empty: that of its config, also for arms with "
    "`rates` of their own. A claim on an arm whose best one is the lowest or highest is not decided, unless "
    "all are about as good");
  f("seeds", seeds, at_least(0), "of these trials; other ones than the reported");
  f("choose_by", choose_by, "validation metric that chooses the best rate, or step: who stops first");
  f("within", within, at_least(0),
    "distance from the best that still counts as good, for the width of the basin; 0: 1 % of the best");
  f.check(!seeds.empty(), "seeds", "needs at least one seed");
  f.check(all_different(values), "values", "a rate is given twice");
  f.check(choose_by.rfind("valid_", 0) == 0 || choose_by == "step", "choose_by",
          "must be a validation metric, valid_…, or step: the test set chooses nothing");
}

void StudySpec::fields(Fields& f) {
  f("name", name, "of the study; its folder is runs/NAME");
  f("question", question, "what it asks, for reports");
  f("source", source, "where the published numbers are from");
  f("metric", metric, "what the arms are compared by; empty: the first score of the first test set");
  f("columns", columns, "further metrics in the table");
  f("baseline", baseline, "arm that the others are compared with; empty: the first");
  f("seeds", seeds, at_least(0), "every arm runs once with each");
  f("only", only, "names of the arms to run, or of families of arms that axes make; empty: all");
  f("without", without, "the same, to leave out");
  f("controls", controls,
    "scores computed from the data, without a model: majority, by_position, copy, unigram, or those that the "
    "task names");
  f.section("rates", rates, "learning rates swept for each arm");
  f.check(!name.empty(), "name", "a study needs a name");
  f.check(name.find('/') == std::string::npos && !name.starts_with('.'), "name",
          "must be a plain name: it becomes a folder");
  f.check(!seeds.empty(), "seeds", "needs at least one seed");
  f.check(all_different(seeds), "seeds", "a seed is given twice");
  f.check(all_different(controls), "controls", "a control is given twice");
  const bool apart = std::none_of(rates.seeds.begin(), rates.seeds.end(), [this](std::int64_t seed) {
    return std::find(seeds.begin(), seeds.end(), seed) != seeds.end();
  });
  f.check(rates.values.empty() || apart, "rates.seeds",
          "rates must be chosen on other seeds than the reported ones");
}

void ArmSpec::fields(Fields& f) {
  f("note", note, "what is different, for tables");
  f("control", control, "stands beside the claim and is none itself; drawn in grey");
  f("untrained", untrained, "scores the initial weights: one step at a rate that moves nothing");
  f("published", published, "published value of the metric, or one for each point of the arm's axes");
  f("rates", rates, above(0), "learning rates that this arm tries instead of the study's");
}

void RangeSpec::fields(Fields& f) {
  f("from", from, "first value");
  f("to", to, "last value");
  f("step", step, above(0), "distance between values");
  f("count", count, at_least(2), "number of values");
  f("log", log, "equal factors instead of equal distances");
  f.check(to > from, "to", "must be larger than 'from'");
  f.check(step.has_value() != count.has_value(), "step", "give either 'step' or 'count'");
  f.check(!log || (count && from > 0), "log", "needs 'count', and 'from' above 0");
}

std::vector<double> RangeSpec::values() const {
  std::vector<double> result;
  const std::int64_t n = count ? *count : static_cast<std::int64_t>((to - from) / *step + 1e-9) + 1;
  for (std::int64_t i = 0; i < n; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(n - 1);
    const double value = step  ? from + static_cast<double>(i) * *step
                         : log ? from * std::pow(to / from, share)
                               : from + share * (to - from);
    result.push_back(std::stod(fmt::format("{:.6g}", value)));  // as a person would write it
  }
  return result;
}

}  // namespace attnlab
