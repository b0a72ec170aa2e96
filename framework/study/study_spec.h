// The `study:` section of a file: several experiments that are told apart, run and judged together. The rest
// of the file is the experiment that they share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/fields.h"

namespace attnlab {

// Learning rates that every arm tries before its reported runs.
struct RatesSpec {
  std::vector<double> values;
  std::vector<std::int64_t> seeds{1001};
  std::string choose_by = "valid_nll";
  double within = 0;
  void fields(Fields& f);
};

struct StudySpec {
  std::string name, question, source;
  std::string metric;
  std::vector<std::string> columns;
  std::string baseline;
  std::vector<std::int64_t> seeds{1};
  std::vector<std::string> only, without, controls;
  RatesSpec rates;
  void fields(Fields& f);
};

// What an arm may say beside its overlay on the experiment.
struct ArmSpec {
  std::string note;
  bool control = false, untrained = false;
  std::vector<double> published;
  std::vector<double> rates;
  void fields(Fields& f);
};

// Values from one to another: {from, to, step}, or {from, to, count} with equal distances or factors.
struct RangeSpec {
  double from = 0, to = 0;
  std::optional<double> step;
  std::optional<std::int64_t> count;
  bool log = false;
  void fields(Fields& f);
  std::vector<double> values() const;
};

}  // namespace attnlab
