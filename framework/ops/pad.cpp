#include "ops/pad.h"

#include <cstring>

#include "core/parallel.h"

namespace attnlab {
namespace {

const Op kPad{"pad"}, kUnpad{"unpad"};

// Byte addresses of the K values of head h of a token, in the rows and in the dense tensor.
struct Places {
  const Sequences& sequences;
  Index heads, longest;
  std::size_t row_bytes, head_bytes;

  std::byte* in_rows(const Tensor& rows, Index b, Index h, Index t) const {
    return static_cast<std::byte*>(rows.raw()) +
           static_cast<std::size_t>(sequences.offset(b) + t) * row_bytes +
           static_cast<std::size_t>(h) * head_bytes;
  }
  std::byte* in_dense(const Tensor& dense, Index b, Index h, Index t) const {
    return static_cast<std::byte*>(dense.raw()) +
           static_cast<std::size_t>((b * heads + h) * longest + t) * head_bytes;
  }
};

Places places(const Tensor& rows, const Sequences& sequences, Index heads, Index longest) {
  const auto bytes = static_cast<std::size_t>(size_of(rows.type()));
  return {sequences, heads, longest, static_cast<std::size_t>(rows.row_stride()) * bytes,
          static_cast<std::size_t>(rows.columns() / std::max<Index>(heads, 1)) * bytes};
}

Tensor padded(const Tensor& rows, const Sequences& sequences, Index heads, Index longest) {
  const Tensor dense({sequences.count(), heads, longest, rows.columns() / heads}, rows.type());
  const Places at = places(rows, sequences, heads, longest);
  parallel_items(sequences.count() * heads, [&at, &rows, &dense](Index item) {
    const Index b = item / at.heads, h = item % at.heads, length = at.sequences.length(b);
    for (Index t = 0; t < length; ++t)
      std::memcpy(at.in_dense(dense, b, h, t), at.in_rows(rows, b, h, t), at.head_bytes);
    std::memset(at.in_dense(dense, b, h, length), 0,
                static_cast<std::size_t>(at.longest - length) * at.head_bytes);
  });
  return dense;
}

Tensor unpadded(const Tensor& dense, const Sequences& sequences) {
  const Index heads = dense.shape()[1];
  const Shape shape{sequences.rows(), heads * dense.columns()};
  const Tensor rows =
      sequences.lengths.empty() ? Tensor(shape, dense.type()) : Tensor::zeros(shape, dense.type());
  const Places at = places(rows, sequences, heads, dense.shape()[2]);
  parallel_items(sequences.count() * heads, [&at, &rows, &dense](Index item) {
    const Index b = item / at.heads, h = item % at.heads, length = at.sequences.length(b);
    for (Index t = 0; t < length; ++t)
      std::memcpy(at.in_rows(rows, b, h, t), at.in_dense(dense, b, h, t), at.head_bytes);
  });
  return rows;
}

}  // namespace

Var pad(const Var& rows, const Sequences& sequences, Index heads) {
  const Shape& shape = rows.shape();
  check(shape.rank() == 2 && shape[0] == sequences.rows(), "pad: rows ", shape, " for sequences of ",
        sequences.rows(), " rows");
  check(heads > 0 && shape[1] % heads == 0, "pad: ", heads, " heads in ", shape[1], " columns");
  return record(kPad, {rows}, padded(rows.value(), sequences, heads, sequences.longest()),
                [sequences](Gradients& g) {
                  const Tensor dy = g.take_out();
                  g.give(0, unpadded(dy.contiguous() ? dy : dy.clone(), sequences));
                });
}

Var unpad(const Var& dense, const Sequences& sequences) {
  const Shape& shape = dense.shape();
  check(shape.rank() == 4 && shape[0] == sequences.count() && shape[2] >= sequences.longest(),
        "unpad: dense ", shape, " for ", sequences.count(), " sequences of up to ", sequences.longest(),
        " tokens");
  const Tensor x = dense.value().contiguous() ? dense.value() : dense.value().clone();
  return record(kUnpad, {dense}, unpadded(x, sequences),
                [sequences, heads = shape[1], longest = shape[2]](Gradients& g) {
                  g.give(0, padded(g.out(), sequences, heads, longest));
                });
}

Tensor token_mask(const Sequences& sequences, DType type) {
  const Index longest = sequences.longest();
  std::vector<double> values(static_cast<std::size_t>(sequences.count() * longest), 0.0);
  for (Index b = 0; b < sequences.count(); ++b)
    std::fill_n(values.begin() + b * longest, sequences.length(b), 1.0);
  return Tensor::from({sequences.count(), 1, longest, 1}, type, values);
}

}  // namespace attnlab
