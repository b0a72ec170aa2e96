// One benchmark of `attnlab bench NAME`. Each lives in a file of its own under tools/bench/ and registers
// itself.
#pragma once

#include <nlohmann/json.hpp>

#include "command.h"

namespace attnlab {

struct Benchmark {
  Benchmark(const char* benchmark_name, const char* benchmark_doc, SetUp benchmark_set_up);
  std::string name, doc;
  SetUp set_up;
};

const std::vector<const Benchmark*>& benchmarks();

// Prints results as one JSON object a line, or as a table whose head is printed before the first row.
class ResultTable {
 public:
  explicit ResultTable(bool json) : json_(json) {}
  void row(const nlohmann::ordered_json& values);

 private:
  bool json_, head_ = false;
};

double median(std::vector<double> values);

}  // namespace attnlab
