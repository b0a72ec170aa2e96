#include "ops/dropout_weights.h"

#include <cmath>

#include "core/parallel.h"

namespace attnlab {
namespace {

const Op kDropoutWeights{"dropout_weights"};

// As the attention kernels draw: 16 bits a weight, eight weights a block of random bits.
struct Draws {
  Sequences queries;
  Random random;
  std::uint32_t threshold;
  Index heads, longest;

  double keep_scale() const { return 1 / (1 - threshold / 65536.0); }
  // Number of the first block of row `row` of the flat [B H T, S] matrix; false past a sentence's end.
  bool first_block(Index row, std::uint64_t& block) const {
    const Index t = row % longest, h = row / longest % heads, b = row / longest / heads;
    if (t >= queries.length(b)) return false;
    const Index query = queries.first_row + queries.offset(b) + t;
    block = static_cast<std::uint64_t>(query * heads + h) << 20;
    return true;
  }
};

template <class E>
void drop_row(const Draws& draws, std::uint64_t block, Index S, const E* x, E* y) {
  using T = Accumulator<E>;
  const T keep = static_cast<T>(draws.keep_scale());
  for (Index first = 0; first < S; first += 8) {
    const auto words = draws.random.block(block + static_cast<std::uint64_t>(first / 8));
    for (Index s = first; s < std::min(S, first + 8); ++s) {
      const auto drawn = words[static_cast<std::size_t>(s % 8 / 2)] >> (16 * (s % 2)) & 0xffffU;
      y[s] = drawn < draws.threshold ? E(0) : static_cast<E>(static_cast<T>(x[s]) * keep);
    }
  }
}

// Places past a sentence's end pass as they are.
Tensor dropped(const Draws& draws, const Tensor& x) {
  const Tensor y(x.shape(), x.type());
  const Index S = x.columns();
  dispatch(x.type(), [&](auto zero) {
    using E = decltype(zero);
    parallel_for(x.rows(), 16, [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        const E* in = x.data<E>() + row * x.row_stride();
        std::uint64_t block = 0;
        if (draws.first_block(row, block))
          drop_row(draws, block, S, in, y.data<E>() + row * S);
        else
          std::copy_n(in, S, y.data<E>() + row * S);
      }
    });
  });
  return y;
}

}  // namespace

Var dropout_weights(const Var& weights, const Sequences& queries, const Dropout& options) {
  const Shape& shape = weights.shape();
  check(shape.rank() == 4 && shape[0] == queries.count() && shape[2] >= queries.longest(),
        "dropout_weights: weights ", shape, " for ", queries.count(), " sentences of up to ",
        queries.longest(), " queries");
  check(options.rate >= 0 && options.rate < 1, "dropout_weights: rate ", options.rate,
        ", expected 0 <= rate < 1");
  Tape& tape = weights.tape();
  if (options.rate == 0 || !tape.training()) return weights;
  const auto threshold = static_cast<std::uint32_t>(std::min(std::lround(options.rate * 65536), 65535L));
  const Draws draws{queries, tape.random(options.stream), threshold, shape[1], shape[2]};
  return record(kDropoutWeights, {weights}, dropped(draws, weights.value()),
                [draws](Gradients& g) { g.give(0, dropped(draws, g.out())); });
}

}  // namespace attnlab
