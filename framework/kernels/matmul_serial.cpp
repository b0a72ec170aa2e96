#include "kernels/matmul_serial.h"

#include <algorithm>
#include <atomic>

#include "kernels/cpu.h"
#include "kernels/matmul_library.h"
#include "kernels/matmul_loops.h"
#include "kernels/matmul_scratch.h"
#include "kernels/matmul_tile.h"
#include "kernels/matmul_views.h"

namespace attnlab::kernels {
namespace {

std::atomic<bool> emulation{false};

bool multiplies_bf16() { return has_native_bf16() && !emulation; }

enum class Way : std::uint8_t { tiles, widened, loops, library };

Way way_of(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
           const MatmulOptions& options) {
  if (a.type == DType::f64 || a.columns == 0) return Way::tiles;
  const bool narrow = a.type == DType::bf16, suits = detail::suits_loops(a, c, options);
  // Multiply-adds up to which tiles beat the loops, which pack, and the library, whose call costs more than a
  // microsecond (measured with AVX-512). With few rows, turning a transposed b around costs more than the
  // product.
  const Index small = narrow ? 96 * 1024 : suits ? 8 * 1024 : 256 * 1024;
  const Index few_rows = b.transposed && a.rows < 4 ? 16 : 1;
  if (a.rows * a.columns * c.columns * few_rows <= small) return Way::tiles;
  if (narrow && !multiplies_bf16()) return Way::widened;
  return suits ? Way::loops : Way::library;
}

// bf16 where the CPU cannot multiply it: operands are widened to f32, a strip of columns at a time.
void widened_product(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                     const MatmulOptions& options) {
  thread_local detail::Scratch a_scratch, b_scratch, c_scratch;
  constexpr Index kStrip = 512;
  const auto room = [](detail::Scratch& scratch, Index rows, Index columns) {
    return scratch.array<float>(static_cast<std::size_t>(rows * columns));
  };
  const MatrixView wide_a = detail::widen(a, room(a_scratch, a.rows, a.columns));
  for (Index column = 0; column < c.columns; column += kStrip) {
    const Index columns = std::min(kStrip, c.columns - column);
    const MatrixView strip = detail::block_of(b, 0, b.rows, column, columns);
    float* sums = room(c_scratch, c.rows, columns);
    detail::serial_product(wide_a, detail::widen(strip, room(b_scratch, b.rows, columns)),
                           mutable_matrix(sums, c.rows, columns), {});
    detail::finish(sums, detail::block_of(c, 0, c.rows, column, columns),
                   detail::options_at(options, column));
  }
}

}  // namespace

void emulate_bf16(bool on) { emulation = on; }

namespace detail {

bool goes_to_loops(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                   const MatmulOptions& options) {
  return way_of(a, b, c, options) == Way::loops;
}

void serial_product(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                    const MatmulOptions& options) {
  switch (way_of(a, b, c, options)) {
    case Way::tiles:
      return tile_product(a, b, c, options);
    case Way::widened:
      return widened_product(a, b, c, options);
    case Way::loops:
      return loop_product(a, b, c, options);
    case Way::library:
      return library_product(a, b, c, options);
  }
}

}  // namespace detail
}  // namespace attnlab::kernels
