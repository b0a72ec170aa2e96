#include "core/parallel.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

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
  std::atomic<Index> next{0};
  auto work = [&](int thread) {
    inside_loop = true;
    try {
      if (dynamic) {
        for (Index i = next++; i < pieces; i = next++)
          body(context, i * grain, std::min(count, (i + 1) * grain));
      } else if (const Index begin = count * thread / team, end = count * (thread + 1) / team; begin < end) {
        body(context, begin, end);
      }
    } catch (...) {
      first_error.keep();
    }
    inside_loop = false;
  };
  run_team(team, work);
  first_error.raise();
}

}  // namespace detail
}  // namespace attnlab
