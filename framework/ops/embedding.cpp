#include "ops/embedding.h"

#include <numeric>

#include "kernels/rows.h"
#include "kernels/vectorise.h"

namespace attnlab {
namespace {

const Op kEmbedding{"embedding"};

// Places of the batch sorted by id (stable), and where each different id starts.
struct Groups {
  std::vector<Index> places, starts;
};

Groups group_by_id(const std::vector<std::int32_t>& ids, Index V) {
  Groups groups;
  std::vector<Index> next(static_cast<std::size_t>(V) + 1);
  for (const auto id : ids) ++next[static_cast<std::size_t>(id) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  groups.places.resize(ids.size());
  for (std::size_t id = 0; id + 1 < next.size(); ++id)
    if (next[id] < next[id + 1]) groups.starts.push_back(next[id]);
  groups.starts.push_back(static_cast<Index>(ids.size()));
  for (std::size_t n = 0; n < ids.size(); ++n)
    groups.places[static_cast<std::size_t>(next[static_cast<std::size_t>(ids[n])]++)] = static_cast<Index>(n);
  return groups;
}

// dtable[id] += scale * sum of dy over the places of id; rows never touched are zero on "overwrite".
template <class T, class S>
void scatter(const Tensor& dy, const std::vector<std::int32_t>& ids, double scale, const Target& to) {
  const Index D = dy.columns();
  if (!to.add) to.buffer.fill(0);
  const Groups groups = group_by_id(ids, to.buffer.rows());
  S* table = to.buffer.data<S>();
  const S factor = static_cast<S>(scale);
  parallel_items(static_cast<Index>(groups.starts.size()) - 1, [&](Index group) {
    const auto first = static_cast<std::size_t>(groups.starts[static_cast<std::size_t>(group)]);
    const auto last = static_cast<std::size_t>(groups.starts[static_cast<std::size_t>(group) + 1]);
    S* row = table + ids[static_cast<std::size_t>(groups.places[first])] * to.buffer.row_stride();
    for (std::size_t k = first; k < last; ++k) {
      const T* from = dy.data<T>() + groups.places[k] * dy.row_stride();
      kernels::vectorised(
          0, D, [ from, row, factor ](Index from_column, Index to_column) __attribute__((always_inline)) {
            for (Index j = from_column; j < to_column; ++j)
              row[j] += static_cast<S>(kernels::load(from[j])) * factor;
          });
    }
  });
}

}  // namespace

Var embedding(const Var& table, const std::vector<std::int32_t>& ids, double scale) {
  check(table.shape().rank() == 2, "embedding: a table [V, D] expected, got ", table.shape());
  const Index V = table.shape()[0], D = table.shape()[1], N = static_cast<Index>(ids.size());
  for (const auto id : ids) check(id >= 0 && id < V, "embedding: id ", id, " in a table of ", V, " rows");
  const Tensor y({N, D}, table.type()), rows = table.value();
  dispatch(table.type(), [&](auto zero) {
    using T = decltype(zero);
    const auto factor = static_cast<Accumulator<T>>(scale);
    parallel_for(N, kernels::row_grain(D), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const T* from = rows.data<T>() + ids[static_cast<std::size_t>(i)] * rows.row_stride();
        T* to = y.data<T>() + i * D;
        kernels::vectorised(
            0, D, [ from, to, factor ](Index from_column, Index to_column) __attribute__((always_inline)) {
              for (Index j = from_column; j < to_column; ++j)
                kernels::store(to[j], kernels::load(from[j]) * factor);
            });
      }
    });
  });
  return record(kEmbedding, {table}, y, [ids, scale](Gradients& g) {
    const Target to = g.target(0);
    if (g.out().type() == DType::f64) return scatter<double, double>(g.out(), ids, scale, to);
    if (g.out().type() == DType::f32) return scatter<float, float>(g.out(), ids, scale, to);
    if (to.buffer.type() == DType::f32) return scatter<bfloat16, float>(g.out(), ids, scale, to);
    // A bf16 table that is no parameter: sum in f32, then round once.
    const Tensor sum =
        to.add ? to.buffer.converted(DType::f32) : Tensor::zeros(to.buffer.shape(), DType::f32);
    scatter<bfloat16, float>(g.out(), ids, scale, {sum, true});
    to.buffer.copy_from(sum);
  });
}

}  // namespace attnlab
