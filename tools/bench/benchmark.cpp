#include "bench/benchmark.h"

#include <fmt/format.h>

#include <algorithm>

namespace attnlab {
namespace {

std::vector<const Benchmark*>& table() {
  static std::vector<const Benchmark*> all;
  return all;
}

}  // namespace

Benchmark::Benchmark(const char* benchmark_name, const char* benchmark_doc, SetUp benchmark_set_up)
    : name(benchmark_name), doc(benchmark_doc), set_up(std::move(benchmark_set_up)) {
  table().push_back(this);
}

const std::vector<const Benchmark*>& benchmarks() { return table(); }

void ResultTable::row(const Record& values) {
  if (json_) {
    fmt::print("{}\n", to_json_line(values));
  } else {
    std::vector<std::string> names;
    std::string head, line;
    for (const auto& [key, value] : values.fields()) {
      const std::size_t width = std::max(key.size(), std::size_t{10});
      names.push_back(key);
      head += fmt::format("{:>{}}  ", key, width);
      line += fmt::format("{:>{}}  ", to_csv_field(value), width);
    }
    if (names != head_) fmt::print("{}\n", head);
    head_ = names;
    fmt::print("{}\n", line);
  }
  std::fflush(stdout);
}

}  // namespace attnlab
