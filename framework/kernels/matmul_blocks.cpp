#include "kernels/matmul_blocks.h"

#include <algorithm>
#include <array>

namespace attnlab::kernels::detail {
namespace {

constexpr Index kItems = 4;                  // enough for a few threads to share evenly
constexpr Index kSmallestItem = 512 * 1024;  // multiply-adds: below this a thread costs more than it brings
constexpr Index kMostColumns = 2048;         // so that a block of the result stays in the cache
constexpr Index kMostRows = 256, kFewestRows = 64, kRowStep = 32;

Index pieces_of(Index size, Index piece) { return (size + piece - 1) / piece; }

// The length of a part when `size` is cut into at most `pieces`, rounded up to a multiple of `grain`.
Index part_of(Index size, Index pieces, Index grain) {
  return pieces_of(pieces_of(size, pieces), grain) * grain;
}

// Rows of the busiest of `threads` when blocks go to whoever is free.
Index busiest(Index rows, Index block, int threads) {
  std::array<Index, kItems> load{};
  for (; rows > 0; rows -= block)
    *std::min_element(load.begin(), load.begin() + threads) += std::min(block, rows);
  return *std::max_element(load.begin(), load.end());
}

// The block that makes the shortest time on two and on four threads. Each call turns b into the library's own
// order anew, which costs about as much as 16 more rows (measured).
Index best_rows(Index rows, Index most_items) {
  if (rows > 16 * kMostRows) return kMostRows;
  Index best = kMostRows;
  double best_time = 1e30;
  for (Index block = kMostRows; block >= kFewestRows; block -= kRowStep) {
    if (pieces_of(rows, block) > most_items) break;
    const double cost = 1 + 16.0 / static_cast<double>(block);
    const double time = cost * static_cast<double>(busiest(rows, block, 2) + 2 * busiest(rows, block, 4));
    if (time < best_time) {
      best_time = time;
      best = block;
    }
  }
  return best;
}

// Of sums over the rows of both operands, as in gradients of weights: cut so that each thread reads the rows
// which it has just written, and not those of others (measured: 15 to 60 % faster). Large results do not pay
// for the copies.
Index pieces_of_sums(Index elements, Index depth) {
  constexpr Index kShallow = 512, kMostElements = Index{1} << 18;
  if (depth < kShallow || elements > kMostElements) return 1;
  return elements <= kMostElements / 4 ? 4 : 2;
}

// About two blocks for each thread, none too small.
Blocks share_out(Index rows, Index columns, Index depth, int threads) {
  constexpr Index kManyRows = 384;  // so many pay for packing b once more (measured)
  constexpr Index kFewest = 64;
  // Elements of a: if so many, every block of columns reads them from memory again.
  constexpr Index kLargeOperand = 4 << 20;
  const bool few = rows < kManyRows && rows * depth >= kLargeOperand;
  const Index most = threads > 1 && !few ? 2 * threads : threads;
  const Index items = std::clamp<Index>(rows * columns * depth / kSmallestItem, 1, most);
  Index down = std::clamp<Index>(rows / kManyRows, 1, items);
  const Index across = std::clamp<Index>(items / down, 1, std::max<Index>(columns / kFewest, 1));
  down = std::clamp<Index>(items / across, 1, std::max<Index>(rows / kFewest, 1));
  return {pieces_of(rows, down), part_of(columns, across, 32), depth};
}

}  // namespace

Blocks choose_blocks(Index rows, Index columns, Index depth, DType type) {
  const Index most_items = std::max<Index>(1, rows * columns * depth / kSmallestItem);
  const Index wanted = std::min(most_items, kItems);
  Blocks blocks{rows, columns, depth};
  if (rows > kMostRows || columns < 512) blocks.rows = best_rows(rows, most_items);
  Index items = pieces_of(rows, blocks.rows);
  if (items < wanted && columns >= 256) {
    blocks.columns = std::clamp<Index>(part_of(columns, pieces_of(wanted, items), 64), 128, kMostColumns);
    items *= pieces_of(columns, blocks.columns);
  }
  // A sum of f64 is never cut: a row then has the same bits whatever other rows there are.
  if (items < wanted && depth >= 512 && type != DType::f64)
    blocks.depth = std::max<Index>(256, part_of(depth, pieces_of(wanted, items), 64));
  return blocks;
}

Blocks choose_shares(Index rows, Index columns, Index depth, bool sums_over_rows, int threads) {
  const Index pieces = sums_over_rows ? pieces_of_sums(rows * columns, depth) : 1;
  Blocks blocks = share_out(rows, columns, depth, std::max(threads / static_cast<int>(pieces), 1));
  if (pieces > 1) blocks.depth = part_of(depth, pieces, 16);
  return blocks;
}

}  // namespace attnlab::kernels::detail
