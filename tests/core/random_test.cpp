#include "core/random.h"

#include <algorithm>
#include <cmath>

#include "support/catch.h"

using namespace attnlab;

TEST_CASE("Philox gives the published known answers") {
  using Block = std::array<std::uint32_t, 4>;
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("numbers depend on seed, stream, step and index, and on nothing else") {
  const Random a(1, stream_name("a"));
  CHECK(a.bits(3) == Random(1, stream_name("a")).bits(3));
  CHECK(a.bits(3) != a.bits(4));
  CHECK(a.bits(3) != Random(2, stream_name("a")).bits(3));
  CHECK(a.bits(3) != Random(1, stream_name("b")).bits(3));
  CHECK(a.bits(3) != Random(1, stream_name("a"), 1).bits(3));
}

TEST_CASE("moments of uniform and normal numbers") {
  const Random random(7, stream_name("moments"));
  const int count = 100000;
  double uniform = 0, normal = 0, square = 0;
  for (int i = 0; i < count; ++i) {
    uniform += random.uniform(static_cast<std::uint64_t>(i));
    const double z = random.normal(static_cast<std::uint64_t>(i));
    normal += z;
    square += z * z;
  }
  CHECK(std::abs(uniform / count - 0.5) < 0.005);
  CHECK(std::abs(normal / count) < 0.015);
  CHECK(std::abs(square / count - 1) < 0.02);
}

TEST_CASE("a permutation holds every number once and differs between streams") {
  auto order = Random(1, 2).permutation(100);
  CHECK(order != Random(1, 3).permutation(100));
  std::sort(order.begin(), order.end());
  for (Index i = 0; i < 100; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
}
