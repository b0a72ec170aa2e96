#include "train/interrupt.h"

#include <atomic>
#include <cctype>
#include <csignal>
#include <cstdint>

#include "config/error.h"

namespace attnlab {
namespace {

std::atomic<int> arrived{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

void note(int signal) {
  if (arrived.exchange(signal) != 0 && signal == SIGINT) {
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);  // delivered when this handler returns
  }
}

}  // namespace

struct InterruptGuard::Handlers {
  struct sigaction terminate, interrupt;
};

InterruptGuard::InterruptGuard() : before_(new Handlers) {
  clear_interrupt();
  struct sigaction action = {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGTERM, &action, &before_->terminate);
  ::sigaction(SIGINT, &action, &before_->interrupt);
}

InterruptGuard::~InterruptGuard() {
  ::sigaction(SIGTERM, &before_->terminate, nullptr);
  ::sigaction(SIGINT, &before_->interrupt, nullptr);
  delete before_;
}

int interrupt_signal() { return arrived.load(); }
void throw_if_interrupted() {
  if (const int signal = interrupt_signal(); signal != 0) throw Interrupted(signal);
}
void clear_interrupt() { arrived = 0; }

std::chrono::seconds parse_duration(const std::string& text) {
  constexpr std::int64_t kLongest = 1'000'000'000;  // about 31 years
  std::int64_t total = 0, number = -1;
  bool sound = !text.empty();
  for (const char c : text) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      number = (number < 0 ? 0 : number) * 10 + (c - '0');
    } else {
      const std::int64_t unit = c == 's' ? 1 : c == 'm' ? 60 : c == 'h' ? 3600 : c == 'd' ? 86400 : 0;
      sound = sound && unit > 0 && number >= 0;
      total += number * unit;
      number = -1;
    }
    if (!sound || number > kLongest || total > kLongest) break;
  }
  if (!sound || number >= 0 || total > kLongest || total <= 0)
    throw ConfigError("error: '" + text +
                      "' is no duration; expected a number and s, m, h or d, such as 90s, 10m or 2h");
  return std::chrono::seconds(total);
}

}  // namespace attnlab
