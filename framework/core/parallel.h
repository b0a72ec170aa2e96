// Parallel loops with a static split. The body must not depend on which thread runs it, so that results are
// the same for any number of threads. Two back-ends: OpenMP, and std::thread for ThreadSanitizer builds.
#pragma once

#include "core/dtype.h"

namespace attnlab {

int thread_count();  // threads a parallel loop may use (OMP_NUM_THREADS is respected)
void set_thread_count(int count);

namespace detail {
using LoopBody = void (*)(void* context, Index begin, Index end);
// Pieces of `grain` items; `dynamic` hands them out one by one instead of in equal shares.
void run_loop(Index count, Index grain, bool dynamic, void* context, LoopBody body);

template <class Body>
void run(Index count, Index grain, bool dynamic, Body& body) {
  run_loop(count, grain, dynamic, const_cast<void*>(static_cast<const void*>(&body)),
           [](void* context, Index begin, Index end) { (*static_cast<Body*>(context))(begin, end); });
}
}  // namespace detail

// Calls body(begin, end) over disjoint pieces of [0, count) that together cover it, one piece a thread, each
// of at least `grain` items. A loop of at most one grain runs on the caller's thread; nested loops run
// serially there too. An exception in the body reaches the caller.
template <class Body>
void parallel_for(Index count, Index grain, Body&& body) {
  detail::run(count, grain, false, body);
}

// Calls body(item) for every item of [0, count), handed out one by one to whichever thread is free: for
// uneven work.
template <class Body>
void parallel_items(Index count, Body&& body) {
  auto piece = [&body](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) body(i);
  };
  detail::run(count, 1, true, piece);
}

}  // namespace attnlab
