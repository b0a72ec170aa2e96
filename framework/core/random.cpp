#include "core/random.h"

#include <cmath>
#include <numbers>
#include <numeric>

namespace attnlab {
namespace {

// The finaliser of SplitMix64: spreads (seed, stream) over the key.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

__extension__ using Wide = unsigned __int128;  // not in ISO C++, but in gcc and clang

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> c, std::array<std::uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53} * c[0],
                        product1 = std::uint64_t{0xCD9E8D57} * c[2];
    c = {high(product1) ^ c[1] ^ k[0], low(product1), high(product0) ^ c[3] ^ k[1], low(product0)};
    k[0] += 0x9E3779B9;
    k[1] += 0xBB67AE85;
  }
  return c;
}

std::uint64_t stream_name(std::string_view path) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

Random::Random(std::uint64_t seed, std::uint64_t stream, std::uint64_t step)
    : key_(mixed(mixed(seed) ^ stream)), step_(step) {}

std::array<std::uint32_t, 4> Random::block(std::uint64_t index) const {
  return philox({low(index), high(index), low(step_), high(step_)}, {low(key_), high(key_)});
}

std::uint64_t Random::bits(std::uint64_t index) const {
  const auto words = block(index);
  return std::uint64_t{words[0]} << 32 | words[1];
}

double Random::uniform(std::uint64_t index) const { return static_cast<double>(bits(index) >> 11) * 0x1p-53; }

double Random::normal(std::uint64_t index) const {
  const auto words = block(index);
  // Box-Muller; the first number is in (0, 1], so its logarithm is finite.
  const double radius = std::sqrt(-2 * std::log((words[0] + 1.0) * 0x1p-32));
  return radius * std::cos(2 * std::numbers::pi * (words[1] * 0x1p-32 + words[2] * 0x1p-64));
}

std::uint64_t Random::below(std::uint64_t index, std::uint64_t bound) const {
  // The high half of a 64 x 64 bit product: bias below bound / 2^64.
  return static_cast<std::uint64_t>((static_cast<Wide>(bits(index)) * bound) >> 64);
}

std::vector<Index> Random::permutation(Index count) const {
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (Index i = count - 1; i > 0; --i) {
    const auto j = below(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(i) + 1);
    std::swap(order[static_cast<std::size_t>(i)], order[j]);
  }
  return order;
}

}  // namespace attnlab
