// Counter-based random numbers (Philox-4x32-10; Salmon et al. 2011, "Parallel random numbers: as easy as 1,
// 2, 3"). A number is a pure function of (seed, stream, step, index): streams are named by module path, never
// by call order, so that recomputation, thread count, rank count and batch splitting draw the same numbers.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/dtype.h"

namespace attnlab {

// The Philox bijection: 128 bits of counter and 64 bits of key to 128 random bits.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

// A stable 64-bit name of a stream, the same on every machine (FNV-1a).
std::uint64_t stream_name(std::string_view path);

class Random {
 public:
  Random() = default;
  Random(std::uint64_t seed, std::uint64_t stream, std::uint64_t step = 0);

  std::array<std::uint32_t, 4> block(std::uint64_t index) const;        // 128 bits
  std::uint64_t bits(std::uint64_t index) const;                        // 64 bits
  double uniform(std::uint64_t index) const;                            // in [0, 1)
  double normal(std::uint64_t index) const;                             // mean 0, variance 1
  std::uint64_t below(std::uint64_t index, std::uint64_t bound) const;  // in [0, bound), bound > 0
  std::vector<Index> permutation(Index count) const;                    // a shuffled 0 … count-1
  // What `block` feeds to philox, for kernels that draw many blocks at once: its counter is {low and high
  // half of the index, low and high half of step()}, its key the halves of key().
  std::uint64_t key() const { return key_; }
  std::uint64_t step() const { return step_; }

 private:
  std::uint64_t key_ = 0, step_ = 0;
};

}  // namespace attnlab
