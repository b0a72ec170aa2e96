#include "train/rotary_rows.h"

#include <cstring>

namespace attnlab {

bool pairs_neighbours(const PositionSpec& positions, const std::string& parameter) {
  const bool turned = parameter.find(".self_attention.query.") != std::string::npos ||
                      parameter.find(".self_attention.key.") != std::string::npos;
  return turned && positions.kind == PositionKind::rotary &&
         positions.rotary_pairs == RotaryPairs::neighbours;
}

Tensor neighbours_to_halves(const Tensor& rows, Index key_width) {
  Tensor out(rows.shape(), rows.type());
  const Index row_bytes = rows.count() / rows.shape()[0] * size_of(rows.type()), half = key_width / 2;
  const auto* from = static_cast<const char*>(rows.raw());
  auto* to = static_cast<char*>(out.raw());
  for (Index row = 0; row < rows.shape()[0]; ++row) {
    const Index column = row % key_width, head = row - column;
    const Index pair = column % half, second = column / half;
    std::memcpy(to + row * row_bytes, from + (head + 2 * pair + second) * row_bytes,
                static_cast<std::size_t>(row_bytes));
  }
  return out;
}

}  // namespace attnlab
