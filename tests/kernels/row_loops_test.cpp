#include "kernels/row_loops.h"

#include <cmath>
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

namespace {

// Weights, moments and gradients of one call of adamw, `shift` numbers into their arrays.
struct Update {
  explicit Update(Index count)
      : w(filled(count, 1)), m(filled(count, 2)), v(filled(count, 3)), g(filled(count, 4)) {
    for (float& x : v) x *= x;
  }
  static std::vector<float> filled(Index count, std::uint64_t stream) {
    std::vector<float> values;
    const Random random(9, stream);
    for (Index i = 0; i < count; ++i)
      values.push_back(static_cast<float>(random.normal(static_cast<std::uint64_t>(i))));
    return values;
  }
  std::vector<float> w, m, v, g;
};

const kernels::AdamWStep kStep{0.5F, 1e-2F, 0.1F, 0.99F, 0.01F, 1.5F, 1e-8F, 0.999F};

}  // namespace

TEST_CASE("adamw is its formula, with and without a copy, past the cache or not") {
  for (const Index count : {1, 3, 17, 63, 65, 1000})
    for (const Index shift : {0, 1})
      for (const bool bypass : {false, true}) {
        INFO(count << " numbers, from " << shift << " on, bypass " << bypass);
        Update in(count + shift), out(count + shift), plain(count + shift);
        std::vector<bfloat16> copy(static_cast<std::size_t>(count + shift + 1), bfloat16(7.0F));
        kernels::row_loops<bfloat16>().adamw(kStep, count, out.g.data() + shift, out.w.data() + shift,
                                             out.m.data() + shift, out.v.data() + shift, copy.data() + shift,
                                             bypass);
        kernels::row_loops<float>().adamw(kStep, count, plain.g.data() + shift, plain.w.data() + shift,
                                          plain.m.data() + shift, plain.v.data() + shift, nullptr, bypass);
        CHECK(out.w == plain.w);
        for (auto i = static_cast<std::size_t>(shift); i < out.w.size(); ++i) {
          const double g = 0.5 * static_cast<double>(in.g[i]);
          const double m = in.m[i] + 0.1 * (g - in.m[i]), v = 0.99 * in.v[i] + 0.01 * g * g;
          CHECK(static_cast<double>(out.m[i]) == Approx(m).epsilon(1e-5).margin(1e-6));
          CHECK(static_cast<double>(out.v[i]) == Approx(v).epsilon(1e-5));
          CHECK(static_cast<double>(out.w[i]) ==
                Approx(0.999 * in.w[i] - 1e-2 * m / (1.5 * std::sqrt(v) + 1e-8)).epsilon(1e-5).margin(1e-6));
          CHECK(copy[i].bits == bfloat16(out.w[i]).bits);
        }
        CHECK(static_cast<float>(copy.back()) == 7);
        CHECK((shift == 0 || out.w[0] == in.w[0]));
      }
}
