#include "bench/benchmark.h"

#include <fmt/format.h>

#include <algorithm>

namespace attnlab {
namespace {

std::vector<const Benchmark*>& table() {
  static std::vector<const Benchmark*> all;
  return all;
}

std::string text(const nlohmann::ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

Benchmark::Benchmark(const char* benchmark_name, const char* benchmark_doc, SetUp benchmark_set_up)
    : name(benchmark_name), doc(benchmark_doc), set_up(std::move(benchmark_set_up)) {
  table().push_back(this);
}

const std::vector<const Benchmark*>& benchmarks() { return table(); }

void ResultTable::row(const nlohmann::ordered_json& values) {
  if (json_) {
    fmt::print("{}\n", values.dump());
  } else {
    std::string head, line;
    for (const auto& [key, value] : values.items()) {
      const std::size_t width = std::max(key.size(), std::size_t{10});
      head += fmt::format("{:>{}}  ", key, width);
      line += fmt::format("{:>{}}  ", text(value), width);
    }
    if (!head_) fmt::print("{}\n", head);
    head_ = true;
    fmt::print("{}\n", line);
  }
  std::fflush(stdout);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace attnlab
