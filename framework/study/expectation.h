// Falsifiable expectations of a study. A kind of expectation registers itself from its own .cpp file and says
// of the results: reproduced, not reproduced, or not decidable here.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/fields.h"
#include "config/position.h"
#include "config/registry.h"
#include "study/results.h"

namespace attnlab {

// What results say of one expectation.
struct Judgement {
  Decision decision = Decision::undecidable;
  std::string figures;  // "-9.1 ± 0.4 over 3 seeds, expected at most -5"
  double p_value =
      std::numeric_limits<double>::quiet_NaN();  // of the claim's opposite; NaN where there is none
  Index seeds = 0;                               // that it rests on
};

struct ExpectationSpec {
  static constexpr const char* kRegistry = "expectation";
  std::string note;    // the claim in words
  std::string metric;  // empty: the study's
  double alpha = 0.05;

  virtual ~ExpectationSpec() = default;
  void fields(Fields& f);
  virtual void own_fields(Fields& f) = 0;
  // The arms that it names; the baseline of an arm is not among them unless it was named.
  virtual std::vector<std::string> arms() const = 0;
  // Keys of axes on which each of its arms must have a value.
  virtual std::vector<std::string> axes() const { return {}; }
  // Whether judging reads more than the results: it is then done once, at the end.
  virtual bool costly() const { return false; }
  // `metric` is the one that holds; every arm named exists. An arm may have no values.
  virtual Judgement judge(const StudyResults& results, const std::string& on) const = 0;
};

// Limits that a number should keep.
struct BandSpec {
  std::optional<double> at_least, at_most;
  bool every_seed = false;
  void fields(Fields& f);
  std::string text() const;  // "at most -5"
  bool holds(double value) const;
};

// Whether the mean of the values, one a seed, lies within the band: by one-sided t-tests against its limits,
// or seed by seed if every_seed. A single value, and values that are all the same, are taken as they are.
Judgement judge_band(std::span<const double> values, const BandSpec& band, double alpha);

// Judges all expectations (the costly ones if `final`), corrects them for being several (Holm), and takes
// back what rests on an arm whose best learning rate was the last of those tried.
struct Claim {
  std::string name;
  std::shared_ptr<ExpectationSpec> spec;
  std::string hash;  // of what was expected
  SourcePosition position;
};
std::vector<ClaimVerdict> judge(const std::vector<Claim>& claims, const StudyResults& results,
                                bool final = true);
// The same correction over the verdicts of several studies.
void correct_together(const std::vector<ClaimVerdict*>& verdicts);

}  // namespace attnlab
