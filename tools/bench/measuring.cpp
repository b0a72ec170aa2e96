#include "bench/measuring.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>

#include "config/error.h"
#include "core/error.h"
#include "core/parallel.h"
#include "train/build_model.h"

namespace attnlab {
namespace {

Precision precision_of(const std::string& name) {
  if (name == "auto") return Precision::automatic;
  if (name == "f32") return Precision::f32;
  if (name == "bf16") return Precision::bf16;
  if (name == "f64") return Precision::f64;
  throw ConfigError("--precision: '" + name + "' is none of auto, f32, bf16, f64");
}

// What a child writes: its figures, or what it threw.
std::string report_of(const std::function<Record()>& measure) {
  try {
    return to_json_line(measure());
  } catch (const ConfigError& error) {
    return to_json_line({{"config error", std::string(error.what())}});
  } catch (const std::exception& error) {
    return to_json_line({{"error", std::string(error.what())}});
  }
}

void write_all(int pipe, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(pipe, text.data() + done, text.size() - done);
    if (count <= 0) return;
    done += static_cast<std::size_t>(count);
  }
}

std::string read_all(int pipe) {
  std::string text;
  char piece[4096];
  for (ssize_t count = 0; (count = ::read(pipe, piece, sizeof piece)) > 0;)
    text.append(piece, static_cast<std::size_t>(count));
  return text;
}

}  // namespace

void MeasureOptions::declare(CLI::App& app) {
  app.add_option("--precision", precision, "auto, f32, bf16 or f64")->capture_default_str();
  app.add_option("--threads", threads, "of the parallel loops");
  app.add_flag("--json", json, "one JSON object a line");
}

DType MeasureOptions::apply() const {
  if (threads > 0) set_thread_count(threads);
  return choose_precision(precision_of(precision)).type;
}

Record measured_apart(const std::function<Record()>& measure) {
  int pipe[2];
  if (::pipe(pipe) != 0) throw Error("cannot make a pipe");
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw Error("cannot start a process");
  if (child == 0) {
    ::close(pipe[0]);
    write_all(pipe[1], report_of(measure));
    std::fflush(nullptr);
    ::_exit(0);
  }
  ::close(pipe[1]);
  const std::string text = read_all(pipe[0]);
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (text.empty()) throw Error(join_text("the measuring process ended with status ", status));
  const Record report = parse_record(text, "the measuring process");
  if (const auto* error = report.find("config error")) throw ConfigError(std::get<std::string>(*error));
  if (const auto* error = report.find("error")) throw Error(std::get<std::string>(*error));
  return report;
}

std::vector<double> timed(const std::function<void()>& call, int warm_up, int repeat, double most_seconds) {
  using Clock = std::chrono::steady_clock;
  for (int i = 0; i < warm_up; ++i) call();
  std::vector<double> seconds;
  double total = 0;
  while (static_cast<int>(seconds.size()) < repeat && (seconds.size() < 2 || total < most_seconds)) {
    const auto start = Clock::now();
    call();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    total += seconds.back();
  }
  return seconds;
}

void append_times(const std::vector<double>& seconds, Record& row) {
  const auto [low, high] = std::minmax_element(seconds.begin(), seconds.end());
  row.set("median_s", rounded(median(seconds)));
  row.set("min_s", rounded(*low));
  row.set("max_s", rounded(*high));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double rounded(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10.0, digits - 1 - static_cast<int>(std::floor(std::log10(std::abs(value)))));
  return std::round(value * scale) / scale;
}

double peak_rss_gb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e9;
}

double available_memory_gb() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("MemAvailable:")) return std::stod(line.substr(13)) * 1024 / 1e9;
  return 0;
}

}  // namespace attnlab
