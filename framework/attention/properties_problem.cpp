#include "attention/properties_problem.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace attnlab {
namespace {

// The places of the sentences in a new layout.
Sequences new_places(const Sequences& old, const std::vector<Index>& order, Index spare) {
  Sequences result;
  result.first_row = old.first_row;
  for (const Index b : order) {
    result.offsets.push_back(result.offsets.back() + old.length(b) + spare);
    if (spare > 0) result.lengths.push_back(old.length(b));
  }
  return result;
}

Tensor moved_rows(const Tensor& rows, const Sequences& from, const Sequences& to,
                  const std::vector<Index>& order, Filler filler) {
  if (!rows) return {};
  const Shape shape{to.rows(), rows.columns()};
  Tensor result = filler == Filler::random ? random_rows(shape, "filler", rows.type())
                                           : Tensor::zeros(shape, rows.type());
  if (filler == Filler::nan) result.fill(std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < order.size(); ++i)
    if (from.length(order[i]) > 0)
      result.row_view(to.offset(static_cast<Index>(i)), from.length(order[i]))
          .copy_from(rows_of(rows, from, order[i]));
  return result;
}

Mask moved_mask(const Mask& mask, const std::vector<Index>& order, Index spare) {
  Mask result = mask;
  result.queries = new_places(mask.queries, order, spare);
  result.keys = new_places(mask.keys, order, spare);
  if (!mask.past.empty()) {
    result.past.clear();
    for (const Index b : order) result.past.push_back(mask.past[static_cast<std::size_t>(b)]);
  }
  if (mask.intervals.empty()) return result;
  result.intervals.assign(static_cast<std::size_t>(result.queries.rows()), Interval{});
  for (std::size_t i = 0; i < order.size(); ++i)
    std::copy_n(mask.intervals.begin() + mask.queries.offset(order[i]), mask.queries.length(order[i]),
                result.intervals.begin() + result.queries.offset(static_cast<Index>(i)));
  return result;
}

struct Inputs {
  Var query, key, value;
};

Var apply(Rig& rig, Tape& tape, const Problem& problem, const Inputs& in) {
  if (problem.level == Level::whole)
    return (*rig.attention)(in.query, in.key ? in.key : in.query, problem.mask);
  HeadRows rows{in.query, in.key, in.value};
  if (!rows.key && rig.attention->kind().projections().key) rows.key = rows.query;
  return rig.attention->kind().forward(tape, rows, problem.mask);
}

}  // namespace

Tensor random_rows(const Shape& shape, const std::string& name, DType type) {
  const Random random(23, stream_name(name));
  std::vector<double> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = random.normal(i);
  return Tensor::from(shape, type, values);
}

Problem draw_problem(const Rig& rig, Level level, const Situation& situation) {
  const DType type = rig.plan.type;
  const Index queries = situation.mask.queries.rows(), keys = situation.mask.keys.rows();
  Problem problem{level, situation.mask, {}, {}, {}, {}};
  if (level == Level::whole) {
    const Index width = rig.dimensions.width;
    problem.query = random_rows({queries, width}, "queries", type);
    if (!situation.self) problem.key = random_rows({keys, width}, "memory", type);
    problem.d_output = random_rows({queries, width}, "gradient", type);
    return problem;
  }
  const AttentionShape& shape = rig.shape();
  const Projections wanted = rig.attention->kind().projections();
  if (wanted.query) problem.query = random_rows({queries, shape.H * shape.K}, "query", type);
  if (wanted.key && !(situation.self && wanted.shared_query_key))
    problem.key = random_rows({keys, shape.H * shape.K}, "key", type);
  if (wanted.value) problem.value = random_rows({keys, shape.H * shape.V}, "value", type);
  problem.d_output = random_rows({queries, shape.H * shape.V}, "gradient", type);
  return problem;
}

std::vector<Level> levels(const Rig& rig) {
  if (rig.has_core()) return {Level::core, Level::whole};
  return {Level::whole};
}

Problem laid_out(const Problem& problem, const std::vector<Index>& order, Index spare, Filler filler) {
  Problem result{problem.level, moved_mask(problem.mask, order, spare), {}, {}, {}, {}};
  const auto moved = [&](const Tensor& rows, const Sequences& from, const Sequences& to) {
    return moved_rows(rows, from, to, order, filler);
  };
  result.query = moved(problem.query, problem.mask.queries, result.mask.queries);
  result.key = moved(problem.key, problem.mask.keys, result.mask.keys);
  result.value = moved(problem.value, problem.mask.keys, result.mask.keys);
  result.d_output =
      moved_rows(problem.d_output, problem.mask.queries, result.mask.queries, order, Filler::zero);
  return result;
}

std::vector<Index> all_sentences(const Problem& problem) {
  std::vector<Index> order;
  for (Index b = 0; b < problem.mask.queries.count(); ++b) order.push_back(b);
  return order;
}

Run run(Rig& rig, const Problem& problem, const TapeOptions& options) {
  Tape tape(options);
  rig.parameters.begin_window();
  const auto variable = [&tape](const Tensor& rows) { return rows ? tape.variable(rows) : Var(); };
  const Inputs in{variable(problem.query), variable(problem.key), variable(problem.value)};
  const Var output = apply(rig, tape, problem, in);
  check(output.shape() == problem.d_output.shape(), "output rows ", output.shape(), ", expected ",
        problem.d_output.shape());
  Run result;
  result.output = output.value().clone();
  if (output.wants_gradient()) tape.backward(output, problem.d_output.clone());
  rig.parameters.finish_window();
  const auto gradient = [&](const Var& x) {
    if (!x) return Tensor();
    const Tensor& dx = tape.gradient(x);
    return dx ? dx.clone() : Tensor::zeros(x.shape(), x.type());
  };
  result.d_query = gradient(in.query);
  result.d_key = gradient(in.key);
  result.d_value = gradient(in.value);
  for (const auto& parameter : rig.parameters.all())
    result.d_parameters.push_back(parameter->gradient().clone());
  return result;
}

Tensor evaluate(Rig& rig, const Problem& problem) {
  Tape tape({.training = false});
  const auto constant = [&tape](const Tensor& rows) { return rows ? tape.constant(rows) : Var(); };
  return apply(rig, tape, problem, {constant(problem.query), constant(problem.key), constant(problem.value)})
      .value()
      .clone();
}

double distance(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) return HUGE_VAL;
  const auto x = a.to_doubles(), y = b.to_doubles();
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double here = std::abs(x[i] - y[i]);
    difference = std::isnan(here) ? HUGE_VAL : std::max(difference, here);
    size = std::max(size, std::abs(y[i]));
  }
  return difference == 0 ? 0 : difference / std::max(size, 1e-30);
}

double difference_in_bits(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.type() != b.type()) return HUGE_VAL;
  const Tensor x = a.clone(), y = b.clone();
  if (x.count() == 0 ||
      std::memcmp(x.raw(), y.raw(), static_cast<std::size_t>(x.count() * size_of(x.type()))) == 0)
    return 0;
  const auto p = x.to_doubles(), q = y.to_doubles();
  double worst = std::numeric_limits<double>::min();
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double here = std::abs(p[i] - q[i]);
    worst = std::isnan(here) && !(std::isnan(p[i]) && std::isnan(q[i])) ? HUGE_VAL : std::fmax(worst, here);
  }
  return worst;
}

double error_of(const Tensor& a, const Tensor& b, double bound) {
  return bound > 0 ? distance(a, b) : difference_in_bits(a, b);
}

bool all_zero(const Tensor& x) {
  for (const double value : x.to_doubles())
    if (value != 0) return false;
  return true;
}

Tensor rows_of(const Tensor& rows, const Sequences& sequences, Index b) {
  return rows.row_view(sequences.offset(b), sequences.length(b));
}

double order_bound(DType type) { return type == DType::f64 ? 0 : type == DType::f32 ? 1e-5 : 3e-2; }

}  // namespace attnlab
