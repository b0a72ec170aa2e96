// One benchmark of `attnlab bench NAME`. Each lives in a file of its own under tools/bench/ and registers
// itself.
#pragma once

#include "command.h"
#include "train/record.h"

namespace attnlab {

struct Benchmark {
  Benchmark(const char* benchmark_name, const char* benchmark_doc, SetUp benchmark_set_up);
  std::string name, doc;
  SetUp set_up;
};

const std::vector<const Benchmark*>& benchmarks();

// Prints results as one JSON object a line, or as a table with a head above each row whose keys are new.
class ResultTable {
 public:
  explicit ResultTable(bool json) : json_(json) {}
  void row(const Record& values);

 private:
  bool json_;
  std::vector<std::string> head_;
};

}  // namespace attnlab
