#include "kernels/row_loops.h"

#include <vector>

#include "core/random.h"
#include "kernels/rows.h"
#include "support/catch.h"

using namespace attnlab;

TEST_CASE("dropout draws half j % 2 of word j / 32 of block j % 32 / 2 for each column j of 128") {
  const kernels::DropoutRate rate(0.3);
  const Random random(7, stream_name("dropout"), (std::uint64_t{5} << 32) + 9);
  const Index row = (Index{1} << 33) + 5;
  for (const Index columns : {1, 3, 17, 63, 65, 128, 300}) {
    const Index blocks = (columns + 127) / 128 * 16;
    std::vector<float> factors(static_cast<std::size_t>(columns));
    kernels::dropout_factors(rate, random, row, columns, factors.data());
    for (Index j = 0; j < columns; ++j) {
      const auto words = random.block(static_cast<std::uint64_t>(row * blocks + j / 128 * 16 + j % 32 / 2));
      const auto drawn = words[static_cast<std::size_t>(j % 128 / 32)] >> (16 * (j % 2)) & 0xffffU;
      INFO("column " << j << " of " << columns);
      CHECK(factors[static_cast<std::size_t>(j)] ==
            (drawn < rate.threshold ? 0.0F : static_cast<float>(rate.scale)));
    }
  }
}
