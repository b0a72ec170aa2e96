#include "ops/attend.h"

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "core/parallel.h"
#include "kernels/attend.h"

namespace attnlab {
namespace {

const Op attend_op{"attend"};

void check_rows(const char* op, const char* what, const Sequences& sequences, const Tensor& tensor) {
  check(sequences.lengths.empty() || static_cast<Index>(sequences.lengths.size()) == sequences.count(), op,
        ": ", sequences.lengths.size(), " lengths for ", sequences.count(), " sentences of ", what);
  for (Index b = 0; b < sequences.count(); ++b)
    check(sequences.offset(b) >= 0 && sequences.length(b) >= 0 &&
              sequences.offset(b) + sequences.length(b) <= tensor.rows(),
          op, ": ", what, " sentence ", b, " has rows ", sequences.offset(b), " to ",
          sequences.offset(b) + sequences.length(b), ", the matrix has ", tensor.rows());
}

std::uint32_t threshold_of(double dropout) {
  check(dropout >= 0 && dropout < 1, "attend: dropout ", dropout, ", expected 0 <= dropout < 1");
  return std::min<std::uint32_t>(static_cast<std::uint32_t>(std::lround(dropout * 65536)), 65535);
}

// The weights of one head of one sentence: item b * H + h.
template <class E>
void weigh_head(const Tensor& query, const Tensor& key, const Mask& mask, const AttendOptions& options,
                Index item, const Tensor& result) {
  const Index b = item / options.heads, head = item % options.heads, width = query.columns() / options.heads;
  const Index longest = result.shape()[2], keys = result.shape()[3];
  const E* k = key.data<E>() + mask.keys.offset(b) * key.row_stride() + head * width;
  std::vector<double> scores;
  for (Index t = 0; t < mask.queries.length(b); ++t) {
    const Interval seen = mask.visible(b, t);
    const E* q = query.data<E>() + (mask.queries.offset(b) + t) * query.row_stride() + head * width;
    double most = -std::numeric_limits<double>::infinity(), total = 0;
    scores.clear();
    for (Index s = seen.begin; s < seen.end; ++s) {
      double sum = 0;
      for (Index j = 0; j < width; ++j)
        sum += static_cast<double>(q[j]) * static_cast<double>(k[s * key.row_stride() + j]);
      scores.push_back(sum * options.scale);
      most = std::max(most, scores.back());
    }
    for (double& score : scores) total += score = std::exp(score - most);
    auto* out = result.data<Accumulator<E>>() + (item * longest + t) * keys + seen.begin;
    for (const double score : scores) *out++ = static_cast<Accumulator<E>>(score / total);
  }
}

}  // namespace

void check_attention(const char* op, const Tensor& query, const Tensor& key, const Tensor& value,
                     const Mask& mask, Index heads) {
  check(heads >= 1 && query.columns() % heads == 0 && value.columns() % heads == 0, op, ": ", heads,
        " heads do not divide ", query.columns(), " query and ", value.columns(), " value columns");
  check(key.columns() == query.columns(), op, ": query has ", query.columns(), " columns, key ",
        key.columns());
  check(value.rows() == key.rows(), op, ": key has ", key.rows(), " rows, value ", value.rows());
  check(query.type() == key.type() && query.type() == value.type(), op, ": types ", to_string(query.type()),
        ", ", to_string(key.type()), " and ", to_string(value.type()), " of query, key and value differ");
  check(mask.queries.count() == mask.keys.count(), op, ": mask with ", mask.queries.count(),
        " sentences of queries and ", mask.keys.count(), " of keys");
  check(mask.past.empty() || static_cast<Index>(mask.past.size()) == mask.queries.count(), op, ": mask with ",
        mask.past.size(), " past lengths for ", mask.queries.count(), " sentences");
  check_rows(op, "query", mask.queries, query);
  check_rows(op, "key", mask.keys, key);
  check(mask.intervals.empty() || static_cast<Index>(mask.intervals.size()) >= mask.queries.rows(), op,
        ": mask with ", mask.intervals.size(), " intervals for ", mask.queries.rows(), " query rows");
  check(mask.keys.longest() <= Index{1} << 23, op, ": a sentence of ", mask.keys.longest(),
        " keys, at most 8388608 are possible");
}

void check_owned_rows(const char* op, const Sequences& sequences) {
  for (Index b = 0; b + 1 < sequences.count(); ++b)
    check(sequences.offset(b) + sequences.length(b) <= sequences.offset(b + 1), op, ": sentences ", b,
          " and ", b + 1, " share rows, which has no gradient");
}

Tensor attention_output(const Sequences& sequences, Index rows, Index columns, DType type) {
  const bool whole = sequences.lengths.empty() && sequences.offset(0) == 0 && sequences.rows() == rows;
  return whole ? Tensor({rows, columns}, type) : Tensor::zeros({rows, columns}, type);
}

Var attend(const Var& query, const Var& key, const Var& value, const Mask& mask,
           const AttendOptions& options) {
  check_attention("attend", query.value(), key.value(), value.value(), mask, options.heads);
  if (key.wants_gradient() || value.wants_gradient()) check_owned_rows("attend", mask.keys);
  Tape& tape = query.tape();
  const auto kept = std::make_shared<const Mask>(mask);
  kernels::AttendInputs inputs{query.value(),
                               key.value(),
                               value.value(),
                               kept.get(),
                               options.heads,
                               options.scale,
                               tape.training() ? threshold_of(options.dropout) : 0,
                               tape.random(options.stream)};
  const DType type = query.type();
  const Tensor output = attention_output(mask.queries, query.value().rows(), value.value().columns(), type);
  const Tensor statistics({2 * options.heads, query.value().rows()},
                          type == DType::f64 ? DType::f64 : DType::f32);
  kernels::attend_forward(inputs, output, statistics);
  return record(
      attend_op, {query, key, value}, output, [inputs, kept, output, statistics](Gradients& gradients) {
        const auto target = [&gradients](int input) {
          return gradients.wants(input) ? gradients.target(input) : Target{};
        };
        const Target d_query = target(0), d_key = target(1), d_value = target(2);
        kernels::attend_backward(inputs, output, statistics, gradients.out(), d_query, d_key, d_value);
      });
}

Tensor attention_weights(const Tensor& query, const Tensor& key, const Mask& mask,
                         const AttendOptions& options) {
  check_attention("attention_weights", query, key, key, mask, options.heads);
  const DType type = query.type() == DType::f64 ? DType::f64 : DType::f32;
  const Tensor result =
      Tensor::zeros({mask.queries.count(), options.heads, mask.queries.longest(), mask.keys.longest()}, type);
  parallel_items(mask.queries.count() * options.heads, [&query, &key, &mask, &options, &result](Index item) {
    dispatch(query.type(), [&query, &key, &mask, &options, &result, item](auto zero) {
      weigh_head<decltype(zero)>(query, key, mask, options, item, result);
    });
  });
  return result;
}

}  // namespace attnlab
