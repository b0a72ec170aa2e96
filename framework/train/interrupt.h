// Ends a run politely: SIGTERM and SIGINT only set a flag that the trainer looks at, a second SIGINT kills.
// And the time that a run may take.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/error.h"

namespace attnlab {

// Work that a signal broke off before it had a result; nothing was changed.
struct Interrupted : Error {
  explicit Interrupted(int number)
      : Error("stopped by signal " + std::to_string(number), 128 + number), signal(number) {}
  int signal;
};

// Catches SIGTERM and SIGINT while it lives. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();  // restores the handlers from before
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct Handlers;
  Handlers* before_;
};

int interrupt_signal();       // the signal that arrived, 0 if none did
void throw_if_interrupted();  // Interrupted, if one did: for long work outside the training loop
void clear_interrupt();

// "90s", "10m", "2h", "1d", or sums such as "1h30m". Throws ConfigError for anything else.
std::chrono::seconds parse_duration(const std::string& text);

// A point in time that may be never.
class Deadline {
 public:
  Deadline() = default;
  explicit Deadline(std::chrono::seconds from_now) : end_(std::chrono::steady_clock::now() + from_now) {}
  bool passed() const { return end_ && std::chrono::steady_clock::now() >= *end_; }

 private:
  std::optional<std::chrono::steady_clock::time_point> end_;
};

}  // namespace attnlab
