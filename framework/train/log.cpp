#include "train/log.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace attnlab {
namespace {

using Clock = std::chrono::steady_clock;

bool on_terminal() {
  static const bool terminal = ::isatty(STDERR_FILENO) == 1;
  return terminal;
}

bool bar_drawn = false;
Clock::time_point last_drawn;

void wipe_bar() {
  if (!bar_drawn) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  bar_drawn = false;
}

spdlog::logger& logger() {
  static const auto log = [] {
    const bool colour = on_terminal() && std::getenv("NO_COLOR") == nullptr;
    auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(colour ? spdlog::color_mode::always
                                                                             : spdlog::color_mode::never);
    auto made = std::make_shared<spdlog::logger>("attnlab", std::move(sink));
    made->set_pattern("%H:%M:%S %^%l%$ %v");
    return made;
  }();
  return *log;
}

template <class Write>
void each_line(const std::string& text, Write&& write) {
  wipe_bar();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    write(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace

void log_info(const std::string& text) {
  each_line(text, [](const std::string& line) { logger().info(line); });
}

void log_warning(const std::string& text) {
  each_line(text, [](const std::string& line) { logger().warn(line); });
}

void silence_log(bool silent) { logger().set_level(silent ? spdlog::level::off : spdlog::level::info); }

ProgressBar::ProgressBar() = default;
ProgressBar::~ProgressBar() { wipe_bar(); }

void ProgressBar::show(Index done, Index total, const std::string& text) {
  const auto now = Clock::now();
  if (!on_terminal() || now - last_drawn < std::chrono::milliseconds(200)) return;
  constexpr Index kWidth = 24;
  const Index filled = total > 0 ? std::min(kWidth, kWidth * done / total) : 0;
  const std::string bar = std::string(static_cast<std::size_t>(filled), '#') +
                          std::string(static_cast<std::size_t>(kWidth - filled), '.');
  fmt::print(stderr, "\r\033[K[{}] {}/{} {}", bar, done, total, text);
  std::fflush(stderr);
  bar_drawn = true;
  last_drawn = now;
}

}  // namespace attnlab
