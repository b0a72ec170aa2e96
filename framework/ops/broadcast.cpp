#include "ops/broadcast.h"

#include <algorithm>

#include "kernels/vectorise.h"

namespace attnlab::detail {
namespace {

constexpr Index kStrip = 64;          // columns summed together
constexpr Index kSumGrain = 1 << 13;  // elements worth a thread

Index aligned_size(const Shape& shape, int axis_from_end) {
  return axis_from_end < shape.rank() ? shape[shape.rank() - 1 - axis_from_end] : 1;
}

// Element steps of an operand for each axis of `whole`, counted from the last; 0 where it is broadcast.
std::array<Index, Shape::kMaxRank> steps_of(const Shape& operand) {
  std::array<Index, Shape::kMaxRank> steps{};
  Index step = 1;
  for (int i = 0; i < operand.rank(); ++i) {
    const Index size = aligned_size(operand, i);
    steps[static_cast<std::size_t>(i)] = size == 1 ? 0 : step;
    step *= size;
  }
  return steps;
}

// The axes of a walk from the whole tensor to its sums, parted into kept and summed ones.
struct Parts {
  Index kept_rows = 1, summed_rows = 1;  // combinations of the axes but the last
  bool last_is_summed = false;
  BroadcastWalk walk;

  explicit Parts(const BroadcastWalk& w) : walk(w) {
    last_is_summed = w.b_steps[static_cast<std::size_t>(w.rank - 1)] == 0;
    for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(w.rank); ++i)
      (w.b_steps[i] == 0 ? summed_rows : kept_rows) *= w.sizes[i];
  }
  // Offset in the whole (or, with `result`, in the sums) of combination `index` of the kept or summed axes.
  Index offset(Index index, bool summed, bool result) const {
    Index offset = 0;
    for (int i = walk.rank - 2; i >= 0; --i) {
      const auto axis = static_cast<std::size_t>(i);
      if ((walk.b_steps[axis] == 0) != summed) continue;
      offset += index % walk.sizes[axis] * (result ? walk.b_steps[axis] : walk.a_steps[axis]);
      index /= walk.sizes[axis];
    }
    return offset;
  }
};

// Sum of a row in sixteen interleaved chains, so that zeros appended to it change no bit.
template <class T>
[[gnu::always_inline]] inline Accumulator<T> row_sum(const T* row, Index count) {
  constexpr int kLanes = 16;
  Accumulator<T> lanes[kLanes] = {};
  Index i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += kernels::load(row[i + lane]);
  for (int lane = 0; i + lane < count; ++lane) lanes[lane] += kernels::load(row[i + lane]);
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  return lanes[0];
}

template <class T, class Out>
void sum_rows(const Parts& parts, const T* x, Out* y) {
  const Index columns = parts.walk.columns();
  const Index work = std::max<Index>(1, columns * parts.summed_rows);
  const Parts* p = &parts;
  kernels::parallel_vectorised(
      parts.kept_rows, std::max<Index>(1, kSumGrain / work),
      [ p, x, y, columns ](Index begin, Index end) __attribute__((always_inline)) {
        for (Index kept = begin; kept < end; ++kept) {
          const T* from = x + p->offset(kept, false, false);
          Accumulator<T> sum = 0;
          for (Index s = 0; s < p->summed_rows; ++s)
            sum += row_sum(from + p->offset(s, true, false), columns);
          kernels::store(y[p->offset(kept, false, true)], sum);
        }
      });
}

template <class T, class Out>
void sum_columns(const Parts& parts, const T* x, Out* y) {
  const Index columns = parts.walk.columns(), strips = (columns + kStrip - 1) / kStrip;
  const Index work = std::max<Index>(1, std::min(columns, kStrip) * parts.summed_rows);
  const Parts* p = &parts;
  kernels::parallel_vectorised(
      parts.kept_rows * strips, std::max<Index>(1, kSumGrain / work),
      [ p, x, y, columns, strips ](Index begin, Index end) __attribute__((always_inline)) {
        for (Index item = begin; item < end; ++item) {
          const Index kept = item / strips, first = item % strips * kStrip;
          const Index width = std::min(kStrip, columns - first);
          const T* from = x + p->offset(kept, false, false) + first;
          Accumulator<T> sums[kStrip] = {};
          for (Index s = 0; s < p->summed_rows; ++s) {
            const T* row = from + p->offset(s, true, false);
            for (Index j = 0; j < width; ++j) sums[j] += kernels::load(row[j]);
          }
          Out* to = y + p->offset(kept, false, true) + first;
          for (Index j = 0; j < width; ++j) kernels::store(to[j], sums[j]);
        }
      });
}

}  // namespace

Shape broadcast_shape(const char* op, const Shape& a, const Shape& b) {
  Shape result;
  const int rank = std::max(a.rank(), b.rank());
  for (int i = rank - 1; i >= 0; --i) {
    const Index left = aligned_size(a, i), right = aligned_size(b, i);
    check(left == right || left == 1 || right == 1, op, ": shapes ", a, " and ", b,
          " do not broadcast: sizes ", left, " and ", right, " differ and neither is 1");
    result.append(left == 1 ? right : left);
  }
  return result;
}

BroadcastWalk::BroadcastWalk(const Shape& whole, const Shape& a, const Shape& b) {
  const auto left = steps_of(a), right = steps_of(b);
  for (int i = whole.rank() - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    const Index size = aligned_size(whole, i);
    if (size == 1) continue;
    const auto last = static_cast<std::size_t>(std::max(rank - 1, 0));
    if (rank > 0 && a_steps[last] == left[at] * size && b_steps[last] == right[at] * size) {
      sizes[last] *= size;
      a_steps[last] = left[at];
      b_steps[last] = right[at];
    } else {
      const auto next = static_cast<std::size_t>(rank++);
      sizes[next] = size;
      a_steps[next] = left[at];
      b_steps[next] = right[at];
    }
  }
  if (rank == 0) sizes[static_cast<std::size_t>(rank++)] = 1;
}

Index BroadcastWalk::rows() const {
  Index product = 1;
  for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(rank); ++i) product *= sizes[i];
  return product;
}

std::array<Index, 2> BroadcastWalk::offsets(Index row) const {
  std::array<Index, 2> result{};
  for (int i = rank - 2; i >= 0; --i) {
    const auto axis = static_cast<std::size_t>(i);
    const Index at = row % sizes[axis];
    result[0] += at * a_steps[axis];
    result[1] += at * b_steps[axis];
    row /= sizes[axis];
  }
  return result;
}

Tensor sum_to(const Tensor& x, const Shape& shape, DType type) {
  if (x.shape() == shape) return x.type() == type ? x : x.converted(type);
  if (x.count() == shape.count()) {
    const Tensor same = x.reshaped(shape);
    return x.type() == type ? same : same.converted(type);
  }
  if (x.count() == 0) return Tensor::zeros(shape, type);
  const Parts parts(BroadcastWalk(x.shape(), x.shape(), shape));
  const Tensor y(shape, type);
  dispatch(x.type(), [&parts, &x, &y](auto from) {
    using T = decltype(from);
    const auto run = [&parts, &x, &y](auto to) {
      using Out = decltype(to);
      if (parts.last_is_summed)
        sum_rows(parts, x.data<T>(), y.data<Out>());
      else
        sum_columns(parts, x.data<T>(), y.data<Out>());
    };
    if (y.type() == dtype_of<T>) return run(T{});
    if (y.type() == DType::bf16) return run(bfloat16{});
    run(Accumulator<T>{});
  });
  return y;
}

}  // namespace attnlab::detail
