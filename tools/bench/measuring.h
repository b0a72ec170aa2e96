// What the benchmarks share: clocks, medians, peak memory, options, and processes of their own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "core/dtype.h"

namespace attnlab {

// Options that most benchmarks have.
struct MeasureOptions {
  std::string precision = "auto";
  int threads = 0;
  bool json = false;
  void declare(CLI::App& app);
  // The type to measure in; sets the number of threads. Throws ConfigError for an unknown precision.
  DType apply() const;
};

// Runs `measure` in a process of its own, so that its peak memory is its own, and returns what it returned.
// Call it before anything has started threads here. What it throws, it throws here as an Error or
// ConfigError.
Record measured_apart(const std::function<Record()>& measure);

// Seconds of each of `repeat` calls after `warm_up` calls; at least two calls, but no more once the timed
// ones have taken `most_seconds` together.
std::vector<double> timed(const std::function<void()>& call, int warm_up, int repeat, double most_seconds);

// The seconds of a set of calls as `median_s`, `min_s` and `max_s`, rounded to four digits.
void append_times(const std::vector<double>& seconds, Record& row);

double median(std::vector<double> values);
double rounded(double value, int digits = 4);  // to so many significant digits
double peak_rss_gb();                          // of this process so far, in units of 10^9 bytes
double available_memory_gb();                  // of the machine now; 0 where it cannot be read

}  // namespace attnlab
