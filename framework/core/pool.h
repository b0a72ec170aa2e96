// Memory for tensors: free lists by size class, eight an octave, 64-byte aligned, huge pages for large
// blocks. Blocks come back when their last owner dies and are handed out again, also to tensors of down to
// half their size: batches of different lengths then share them.
#pragma once

#include <cstddef>
#include <memory>

namespace attnlab {

struct PoolCounters {
  std::size_t live_bytes = 0;    // held by tensors now
  std::size_t peak_bytes = 0;    // most ever live since reset_peak()
  std::size_t cached_bytes = 0;  // free, kept for reuse
  std::size_t hits = 0;          // requests served from a free list
  std::size_t misses = 0;  // requests that asked the system; none after the first step of a training run
};

class Pool {
 public:
  static Pool& global();
  // At least `bytes` bytes, contents undefined. Throws std::bad_alloc.
  std::shared_ptr<std::byte> take(std::size_t bytes);
  PoolCounters counters() const;
  void reset_peak();
  void release_cached();  // gives all free blocks back to the system

 private:
  Pool();
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace attnlab
