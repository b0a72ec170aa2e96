#include "kernels/matmul_blocks.h"

#include <algorithm>

namespace attnlab::kernels::detail {
namespace {

constexpr Index kItems = 8;                  // enough for a few threads to share evenly
constexpr Index kSmallestItem = 512 * 1024;  // multiply-adds: below this a thread costs more than it brings

Index pieces_of(Index size, Index piece) { return (size + piece - 1) / piece; }

// `size` in at most `pieces` parts of a multiple of `grain`.
Index part_of(Index size, Index pieces, Index grain) {
  return pieces_of(pieces_of(size, pieces), grain) * grain;
}

}  // namespace

// A sum of f64 is never cut: a row then has the same bits whatever other rows there are.
Blocks choose_blocks(Index rows, Index columns, Index depth, DType type) {
  const Index wanted = std::clamp<Index>(rows * columns * depth / kSmallestItem, 1, kItems);
  Blocks blocks{256, columns, depth};
  if (type == DType::f64) blocks.rows = 64;
  while (blocks.rows > 64 && pieces_of(rows, blocks.rows) < wanted) blocks.rows /= 2;
  Index items = pieces_of(rows, blocks.rows);
  if (items < wanted && columns >= 256) {
    blocks.columns = std::max<Index>(128, part_of(columns, pieces_of(wanted, items), 64));
    items *= pieces_of(columns, blocks.columns);
  }
  if (items < wanted && depth >= 512 && type != DType::f64)
    blocks.depth = std::max<Index>(256, part_of(depth, pieces_of(wanted, items), 64));
  return blocks;
}

}  // namespace attnlab::kernels::detail
