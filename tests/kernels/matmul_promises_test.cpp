// What matmul promises beyond the right numbers: same bits at any thread count, rows that do not depend on
// other rows (f64), no new primitives on a second pass, emulated bf16 close to native.
#include <cstring>

#include "core/parallel.h"
#include "kernels/cpu.h"
#include "kernels/matmul.h"
#include "kernels/matmul_sample.h"
#include "support/catch.h"

using namespace attnlab;
using kernels::MatmulOptions;
using test::Sample;

namespace {

struct Size {
  Index rows, depth, columns;
  bool a_transposed, b_transposed;
};

// The shapes of training: ragged token rows, small and wide outputs, gradients of weights, decoding.
constexpr Size kSizes[] = {{1037, 128, 256, false, true}, {1037, 256, 128, false, false},
                           {128, 2011, 64, true, false},  {260, 64, 1500, false, true},
                           {5, 512, 700, false, true},    {256, 777, 512, true, false},
                           {96, 1024, 96, false, true},   {1, 256, 256, false, true},
                           {64, 2048, 193, true, false}};  // its last block may be narrow

template <class T>
bool same_bits(const Sample<T>& a, const Sample<T>& b) {
  return std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(T)) == 0;
}

template <class T, class C>
void check_thread_counts() {
  std::mt19937 random(1);
  for (const Size& size : kSizes) {
    CAPTURE(to_string(dtype_of<T>), to_string(dtype_of<C>), size.rows, size.depth, size.columns);
    const Sample<T> a(random, size.rows, size.depth, size.a_transposed);
    const Sample<T> b(random, size.depth, size.columns, size.b_transposed);
    const Sample<C> start(random, size.rows, size.columns);
    MatmulOptions options;
    options.accumulate = true;
    Sample<C> first = start;
    set_thread_count(1);
    kernels::matmul(a.view(), b.view(), first.mutable_view(), options);
    for (const int threads : {2, 3, 7, 16}) {
      Sample<C> other = start;
      set_thread_count(threads);
      kernels::matmul(a.view(), b.view(), other.mutable_view(), options);
      CHECK(same_bits(first, other));
    }
    set_thread_count(0);
  }
}

}  // namespace

TEST_CASE("products have the same bits at any thread count") {
  check_thread_counts<float, float>();
  check_thread_counts<bfloat16, bfloat16>();
  check_thread_counts<bfloat16, float>();
  check_thread_counts<double, double>();
}

TEST_CASE("inside a parallel loop a product has the bits that it has outside") {
  std::mt19937 random(2);
  const Sample<float> a(random, 200, 96), b(random, 96, 130, true);
  Sample<float> outside(random, 200, 130);
  std::vector<Sample<float>> inside(6, outside);
  kernels::matmul_serial(a.view(), b.view(), outside.mutable_view());
  set_thread_count(3);
  parallel_items(6, [&](Index i) {
    kernels::matmul_serial(a.view(), b.view(), inside[static_cast<std::size_t>(i)].mutable_view());
  });
  set_thread_count(0);
  for (const auto& one : inside) CHECK(same_bits(outside, one));
}

TEST_CASE("in f64 a row has the same bits alone and among others") {
  std::mt19937 random(3);
  for (const Index depth : {32, 700})
    for (const bool b_transposed : {false, true}) {
      const Sample<double> a(random, 333, depth), b(random, depth, 77, b_transposed);
      Sample<double> all(random, 333, 77), some = all;
      kernels::matmul(a.view(), b.view(), all.mutable_view());
      for (const Index first : {0, 1, 130, 332}) {
        auto row = a.view();
        auto result = some.mutable_view();
        row.data = a.values.data() + first * a.stride;
        result.data = some.values.data() + first * some.stride;
        row.rows = result.rows = std::min<Index>(13, 333 - first);
        kernels::matmul(row, b.view(), result);
        CHECK(std::memcmp(result.data, all.values.data() + first * all.stride,
                          static_cast<std::size_t>(row.rows * 77) * sizeof(double)) == 0);
      }
    }
}

TEST_CASE("a second pass creates no primitives, and ragged row counts stay few") {
  std::mt19937 random(4);
  const Sample<float> x(random, 900, 64), w(random, 64, 192, true), long_a(random, 192, 900, true);
  Sample<float> y(random, 900, 192), g(random, 192, 64);
  const auto pass = [&](Index rows) {
    auto some_x = x.view();
    auto some_y = y.mutable_view();
    some_x.rows = some_y.rows = rows;
    kernels::matmul(some_x, w.view(), some_y);
    auto dy = long_a.view();
    dy.columns = rows;
    kernels::matmul(dy, some_x, g.mutable_view());
  };
  for (Index rows = 500; rows < 900; ++rows) pass(rows);
  const Index first = kernels::primitive_creations();
  CHECK(first < 60);
  for (Index rows = 899; rows >= 500; --rows) pass(rows);
  CHECK(kernels::primitive_creations() == first);
}

TEST_CASE("emulated bf16 products agree with native ones") {
  std::mt19937 random(5);
  for (const Size& size : kSizes) {
    const Sample<bfloat16> a(random, size.rows, size.depth, size.a_transposed);
    const Sample<bfloat16> b(random, size.depth, size.columns, size.b_transposed);
    Sample<float> native(random, size.rows, size.columns), emulated = native;
    kernels::matmul(a.view(), b.view(), native.mutable_view());
    kernels::emulate_bf16(true);
    kernels::matmul(a.view(), b.view(), emulated.mutable_view());
    kernels::emulate_bf16(false);
    double worst = 0;
    for (std::size_t i = 0; i < native.values.size(); ++i)
      worst = std::max(worst, std::abs(double{native.values[i]} - double{emulated.values[i]}));
    CHECK(worst < 3e-6 * static_cast<double>(size.depth));
  }
}

TEST_CASE("the CPU and the library introduce themselves") {
  CHECK(!kernels::isa_name().empty());
  CHECK(!kernels::cpu_name().empty());
  CHECK(kernels::onednn_version().find('.') != std::string::npos);
  if (kernels::has_native_bf16()) CHECK(kernels::isa_name().starts_with("avx512_core"));
}
