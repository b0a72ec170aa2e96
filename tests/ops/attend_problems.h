// Problems for the tests of attend: shapes, masks and numbers, the naive formula, and a run with gradients.
#pragma once

#include <cmath>
#include <functional>
#include <limits>

#include "ops/attend.h"
#include "ops/attention_result.h"
#include "support/catch.h"
#include "support/gradient_case.h"

namespace attnlab::attend_problems {

struct Problem {
  Mask mask;
  AttendOptions options;
  Index width = 3, value_width = 3;  // of a head
  Tensor query, key, value;

  Problem& draw(DType type = DType::f64, const std::string& name = "attend") {
    const Index queries = mask.queries.rows(), keys = mask.keys.rows(), heads = options.heads;
    query = random_tensor({queries, heads * width}, name + " query").converted(type);
    key = random_tensor({keys, heads * width}, name + " key").converted(type);
    value = random_tensor({keys, heads * value_width}, name + " value").converted(type);
    return *this;
  }
};

inline Problem self(const std::vector<Index>& lengths, Index heads = 2) {
  Problem p;
  p.mask.queries = p.mask.keys = Sequences::of_lengths(lengths);
  p.options.heads = heads;
  p.options.scale = 0.6;
  return p;
}

inline Problem cross() {
  Problem p = self({4, 1, 3});
  p.mask.keys = Sequences::of_lengths({2, 5, 0});  // the last three queries see nothing
  p.value_width = 4;
  return p;
}

inline Problem causal() {
  Problem p = self({5, 3});
  p.mask.causal = true;
  return p;
}

inline Problem band() {
  Problem p = self({9, 2});
  p.mask.band = 2;
  return p;
}

inline Problem intervals() {
  Problem p = self({4, 3});
  p.mask.intervals = {{1, 3}, {2, 2}, {0, 4}, {3, 9}, {0, 1}, {1, 3}, {2, 1}};
  return p;
}

inline Problem dropped() {
  Problem p = self({11, 6});
  p.options.dropout = 0.3;
  p.options.stream = 5;
  p.mask.queries.first_row = 7;
  return p;
}

inline GradientCheck gradient_of(Problem p) {
  p.draw();
  return {[p](Tape&, const std::vector<Var>& in) { return attend(in[0], in[1], in[2], p.mask, p.options); },
          {p.query, p.key, p.value}};
}

// The same by the definition, in f64.
inline std::vector<double> naive(const Problem& p, const Random& random) {
  const Index heads = p.options.heads;
  const auto q = p.query.to_doubles(), k = p.key.to_doubles(), v = p.value.to_doubles();
  std::vector<double> out(static_cast<std::size_t>(p.mask.queries.rows() * heads * p.value_width));
  const auto at = [](const std::vector<double>& x, Index i) { return x[static_cast<std::size_t>(i)]; };
  const auto threshold = std::lround(p.options.dropout * 65536);
  for (Index b = 0; b < p.mask.queries.count(); ++b)
    for (Index t = 0; t < p.mask.queries.length(b); ++t)
      for (Index h = 0; h < heads; ++h) {
        const Index row = p.mask.queries.offset(b) + t;
        const Interval seen = p.mask.visible(b, t);
        double total = 0, most = -1e300;
        std::vector<double> weights;
        for (Index s = seen.begin; s < seen.end; ++s) {
          double score = 0;
          for (Index j = 0; j < p.width; ++j)
            score += at(q, (row * heads + h) * p.width + j) *
                     at(k, ((p.mask.keys.offset(b) + s) * heads + h) * p.width + j);
          weights.push_back(score * p.options.scale);
          most = std::max(most, weights.back());
        }
        for (double& w : weights) total += w = std::exp(w - most);
        for (Index s = seen.begin; s < seen.end; ++s) {
          double weight = at(weights, s - seen.begin) / total;
          if (threshold) {
            const auto global = static_cast<std::uint64_t>((p.mask.queries.first_row + row) * heads + h);
            const auto words = random.block((global << 20) + static_cast<std::uint64_t>(s / 8));
            const auto lane = words[static_cast<std::size_t>(s % 8 / 2)] >> (16 * (s % 2)) & 0xffff;
            weight = lane < threshold ? 0 : weight / (1 - static_cast<double>(threshold) / 65536);
          }
          for (Index j = 0; j < p.value_width; ++j)
            out[static_cast<std::size_t>((row * heads + h) * p.value_width + j)] +=
                weight * at(v, ((p.mask.keys.offset(b) + s) * heads + h) * p.value_width + j);
        }
      }
  return out;
}

inline AttentionResult run(const Problem& p) {
  Tape tape({.seed = 3});
  const Var query = tape.variable(p.query), key = tape.variable(p.key), value = tape.variable(p.value);
  const Var out = attend(query, key, value, p.mask, p.options);
  tape.backward(out, random_tensor(out.shape(), "gradient").converted(out.type()));
  return {out.value(), tape.gradient(query), tape.gradient(key), tape.gradient(value)};
}

inline std::vector<Problem> every_kind() {
  // The long ones take several blocks of queries; the last has enough heads that blocks go together.
  Problem long_causal = self({200, 65}), long_band = self({300}, 1), cached = cross(),
          together = self({260, 130}, 4);
  long_causal.mask.causal = true;
  long_causal.options.dropout = 0.1;
  long_causal.width = 17;
  long_causal.value_width = 33;
  long_band.mask.band = 20;
  together.mask.band = 40;
  together.options.dropout = 0.1;
  cached.mask.queries = Sequences::of_lengths({1, 2});
  cached.mask.keys = Sequences::of_lengths({8, 8});
  cached.mask.keys.lengths = {3, 7};
  cached.mask.past = {2, 5};
  cached.mask.causal = true;
  return {self({4, 1, 6}), cross(),     causal(),  band(), intervals(),
          dropped(),       long_causal, long_band, cached, together};
}

}  // namespace attnlab::attend_problems
