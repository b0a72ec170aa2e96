#include "core/parallel.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/profile.h"

namespace attnlab {
namespace {

thread_local bool inside_loop = false;
int threads_wanted = 0;  // 0: ask OpenMP

// Remembers the first exception of a loop and lets the other pieces finish.
struct FirstError {
  std::exception_ptr error;
  std::mutex mutex;

  void keep() {
    const std::lock_guard lock(mutex);
    if (!error) error = std::current_exception();
  }
  void raise() const {
    if (error) std::rethrow_exception(error);
  }
};

// Starts `count` threads on work(thread index): OpenMP's team, or plain threads that ThreadSanitizer
// understands.
template <class Work>
void run_team(int count, Work& work) {
#ifdef ATTNLAB_THREADS
  std::vector<std::thread> team;
  for (int t = 1; t < count; ++t) team.emplace_back([&work, t] { work(t); });
  work(0);
  for (auto& member : team) member.join();
#else
#pragma omp parallel num_threads(count)
  work(omp_get_thread_num());
#endif
}

// Tells a profile how long the threads of a loop were at work, and how long it kept them.
class Watch {
 public:
  explicit Watch(int team) : profile_(Profile::active()), team_(team) {
    if (profile_ != nullptr) start_ = Profile::Clock::now();
  }
  bool on() const { return profile_ != nullptr; }
  void worked(Profile::Clock::time_point from) {
    busy_ += std::chrono::nanoseconds(Profile::Clock::now() - from).count();
  }
  ~Watch() {
    if (profile_ == nullptr) return;
    const double seconds = std::chrono::duration<double>(Profile::Clock::now() - start_).count();
    profile_->loop(static_cast<double>(busy_) * 1e-9, team_ * seconds);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  Profile* profile_;
  int team_;
  Profile::Clock::time_point start_;
  std::atomic<std::int64_t> busy_{0};
};

// Who does which piece where they are handed out one by one: everybody first his own part of the range, the
// same rows in every loop over a batch, which his cache then still holds; then what others have left.
class Shares {
 public:
  Shares(Index pieces, int team) : pieces_(pieces), team_(team) {
    if (team > kMostOnStack) many_ = std::make_unique<Next[]>(static_cast<std::size_t>(team));
    for (int t = 0; t < team; ++t) next(t) = begin(t);
  }
  template <class Body>
  void take_all(int share, Body body) {
    const Index end = begin(share + 1);
    for (Index i = next(share)++; i < end; i = next(share)++) body(i);
  }

 private:
  struct alignas(64) Next {  // a cache line each
    std::atomic<Index> piece{0};
  };
  static constexpr int kMostOnStack = 16;

  Index begin(int share) const { return pieces_ * share / team_; }
  std::atomic<Index>& next(int share) {
    return (many_ ? many_[static_cast<std::size_t>(share)] : few_[static_cast<std::size_t>(share)]).piece;
  }

  Index pieces_;
  int team_;
  std::array<Next, kMostOnStack> few_;
  std::unique_ptr<Next[]> many_;
};

}  // namespace

int thread_count() { return threads_wanted > 0 ? threads_wanted : omp_get_max_threads(); }
void set_thread_count(int count) { threads_wanted = count; }

namespace detail {

void run_loop(Index count, Index grain, bool dynamic, void* context, LoopBody body) {
  if (count <= 0) return;
  const Index pieces = (count + grain - 1) / std::max<Index>(grain, 1);
  const int team = static_cast<int>(std::min<Index>(thread_count(), pieces));
  if (team <= 1 || inside_loop || omp_in_parallel()) return body(context, 0, count);
  FirstError first_error;
  Watch watch(team);
  Shares shares(dynamic ? pieces : 0, team);
  auto work = [&](int thread) {
    inside_loop = true;
    const auto start = watch.on() ? Profile::Clock::now() : Profile::Clock::time_point();
    try {
      if (dynamic) {
        for (int of = 0; of < team; ++of)
          shares.take_all((thread + of) % team,
                          [=](Index i) { body(context, i * grain, std::min(count, (i + 1) * grain)); });
      } else if (const Index begin = count * thread / team, end = count * (thread + 1) / team; begin < end) {
        body(context, begin, end);
      }
    } catch (...) {
      first_error.keep();
    }
    if (watch.on()) watch.worked(start);
    inside_loop = false;
  };
  run_team(team, work);
  first_error.raise();
}

}  // namespace detail
}  // namespace attnlab
