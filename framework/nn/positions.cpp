#include "nn/positions.h"

#include <cmath>

#include "config/error.h"
#include "ops/dropout.h"
#include "ops/embedding.h"

namespace attnlab {

void PositionSpec::set_all(const std::string& kind_name) {
  if (kind_name == "sinusoidal")
    kind = PositionKind::sinusoidal;
  else if (kind_name == "learned")
    kind = PositionKind::learned;
  else if (kind_name == "rotary")
    kind = PositionKind::rotary;
  else if (kind_name == "none")
    kind = PositionKind::none;
  else
    throw ConfigError("'" + kind_name + "' is no kind of positions: sinusoidal, learned, rotary, none");
}

void PositionSpec::fields(Fields& f) {
  f.choice("kind", kind,
           {{"sinusoidal", PositionKind::sinusoidal},
            {"learned", PositionKind::learned},
            {"rotary", PositionKind::rotary},
            {"none", PositionKind::none}},
           "what tells tokens their place");
  f.choice("layout", layout,
           {{"interleaved", SinusoidLayout::interleaved}, {"concatenated", SinusoidLayout::concatenated}},
           "order of sines and cosines: as in the paper, or as in the authors' library");
  f("max_length", max_length, at_least(1),
    "rows of the learned table, and longest input of length-limited attentions", "tokens");
  f("rotary_base", rotary_base, above(1), "of rotary: pair i turns by position * base^(-2i / key width)");
  f.choice("rotary_pairs", rotary_pairs,
           {{"neighbours", RotaryPairs::neighbours}, {"halves", RotaryPairs::halves}},
           "of rotary: which columns of a head make a pair: 2i and 2i + 1, or i and i + half the width");
}

std::vector<std::int32_t> places_of(const Sequences& rows, const std::vector<Index>& past) {
  std::vector<std::int32_t> places;
  places.reserve(static_cast<std::size_t>(rows.rows()));
  for (Index b = 0; b < rows.count(); ++b) {
    const Index before = past.empty() ? 0 : past[static_cast<std::size_t>(b)];
    for (Index t = 0; t < rows.length(b); ++t) places.push_back(static_cast<std::int32_t>(before + t));
  }
  return places;
}

std::vector<double> sinusoid(SinusoidLayout layout, Index position, Index D) {
  std::vector<double> row(static_cast<std::size_t>(D));
  const Index half = D / 2;
  for (Index j = 0; j < D; ++j) {
    if (layout == SinusoidLayout::interleaved) {
      const double angle = static_cast<double>(position) *
                           std::pow(10000.0, -static_cast<double>(j / 2 * 2) / static_cast<double>(D));
      row[static_cast<std::size_t>(j)] = j % 2 == 0 ? std::sin(angle) : std::cos(angle);
    } else if (j < 2 * half) {  // an odd last column stays zero
      const Index i = j % half;
      const double exponent = static_cast<double>(i) / static_cast<double>(std::max<Index>(half - 1, 1));
      const double angle = static_cast<double>(position) * std::pow(10000.0, -exponent);
      row[static_cast<std::size_t>(j)] = j < half ? std::sin(angle) : std::cos(angle);
    }
  }
  return row;
}

Positions::Positions(const Scope& scope, const PositionSpec& spec, Index width)
    : spec_(spec), path_(scope.path) {
  if (spec.kind == PositionKind::learned)
    table_ =
        &scope.parameters.add(scope.path + ".weight", {spec.max_length, width},
                              normal_fill(scope.init.embedding_gain / std::sqrt(static_cast<double>(width))));
}

Var Positions::operator()(const Var& x, const Sequences& rows, const std::vector<Index>& past) const {
  if (spec_.kind == PositionKind::none || spec_.kind == PositionKind::rotary) return x;
  const std::vector<std::int32_t> places = places_of(rows, past);
  Index longest = 0;
  for (const auto place : places) longest = std::max<Index>(longest, place + 1);
  Tape& tape = x.tape();
  const Index D = x.shape().columns();
  if (table_ != nullptr) {
    check(longest <= spec_.max_length, path_, ": a sentence of ", longest,
          " tokens, but positions.max_length is ", spec_.max_length);
    return residual_sum(x, embedding(tape.leaf(*table_), places, 1), 1, {}, 0);
  }
  if (!sinusoids_ || sinusoids_.rows() < longest || sinusoids_.type() != x.type()) {
    std::vector<double> values;
    for (Index p = 0; p < std::max<Index>(longest, 64); ++p)
      for (const double v : sinusoid(spec_.layout, p, D)) values.push_back(v);
    sinusoids_ = Tensor::from({static_cast<Index>(values.size()) / D, D}, x.type(), values);
  }
  return residual_sum(x, embedding(tape.constant(sinusoids_), places, 1), 1, {}, 0);
}

}  // namespace attnlab
