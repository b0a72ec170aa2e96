#include "core/pool.h"

#include <sys/mman.h>

#include <bit>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "core/profile.h"

namespace attnlab {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{1} << 21;
constexpr std::size_t kLargestWaste = 2;  // a block of up to so many times the size serves

// Rounds up to one of eight sizes an octave.
std::size_t size_class(std::size_t bytes) {
  if (bytes <= 512) return (bytes + kAlignment - 1) / kAlignment * kAlignment + (bytes == 0 ? kAlignment : 0);
  const std::size_t step = std::bit_floor(bytes - 1) / 8;
  return (bytes + step - 1) / step * step;
}

std::byte* allocate(std::size_t bytes) {
  const bool huge = bytes >= kHugePage;
  const std::size_t alignment = huge ? kHugePage : kAlignment;
  void* block = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (block == nullptr) throw std::bad_alloc();
  if (huge) madvise(block, bytes, MADV_HUGEPAGE);
  return static_cast<std::byte*>(block);
}

}  // namespace

struct Pool::State {
  std::mutex mutex;
  std::map<std::size_t, std::vector<std::byte*>> free;  // by size; no list is empty
  PoolCounters counters;

  ~State() { release(); }
  void release() {
    for (auto& [bytes, blocks] : free)
      for (std::byte* block : blocks) std::free(block);
    free.clear();
    counters.cached_bytes = 0;
  }
  // A free block of the size, or the next larger one that there is, whose size `bytes` becomes; else null.
  // Batches differ in length: were every size to wait for its own blocks, all sizes' would pile up.
  std::byte* reuse(std::size_t& bytes) {
    const auto found = free.lower_bound(bytes);
    if (found == free.end() || found->first > kLargestWaste * bytes) return nullptr;
    bytes = found->first;
    std::byte* block = found->second.back();
    found->second.pop_back();
    if (found->second.empty()) free.erase(found);
    return block;
  }
  void give_back(std::byte* block, std::size_t bytes) {
    if (Profile* profile = Profile::active()) profile->given_back(block, bytes);
    const std::lock_guard lock(mutex);
    free[bytes].push_back(block);
    counters.live_bytes -= bytes;
    counters.cached_bytes += bytes;
  }
};

Pool::Pool() : state_(std::make_shared<State>()) {}

Pool& Pool::global() {
  static Pool pool;
  return pool;
}

std::shared_ptr<std::byte> Pool::take(std::size_t bytes) {
  bytes = size_class(bytes);
  bool missed = false;
  std::byte* block = nullptr;
  {
    const std::lock_guard lock(state_->mutex);
    auto& counters = state_->counters;
    block = state_->reuse(bytes);
    if (block == nullptr) {
      block = allocate(bytes);
      ++counters.misses;
      missed = true;
    } else {
      ++counters.hits;
      counters.cached_bytes -= bytes;
    }
    counters.live_bytes += bytes;
    counters.peak_bytes = std::max(counters.peak_bytes, counters.live_bytes);
  }
  if (Profile* profile = Profile::active()) profile->taken(block, bytes, missed);
  return {block, [state = state_, bytes](std::byte* freed) { state->give_back(freed, bytes); }};
}

PoolCounters Pool::counters() const {
  const std::lock_guard lock(state_->mutex);
  return state_->counters;
}

void Pool::reset_peak() {
  const std::lock_guard lock(state_->mutex);
  state_->counters.peak_bytes = state_->counters.live_bytes;
}

void Pool::release_cached() {
  const std::lock_guard lock(state_->mutex);
  state_->release();
}

}  // namespace attnlab
