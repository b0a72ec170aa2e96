#include "study/attention_places.h"

#include <algorithm>
#include <cmath>

#include "config/error.h"
#include "ops/dense.h"
#include "ops/pad.h"
#include "study/probe_subject.h"

namespace attnlab {
namespace {

void add_layers(const Stack* stack, AttentionType type, std::vector<AttentionPlace>& places) {
  if (stack == nullptr) return;
  for (std::size_t i = 0; i < stack->layers().size(); ++i) {
    const Layer& layer = stack->layers()[i];
    const MultiHeadAttention* attention =
        type == AttentionType::cross ? layer.cross_attention() : &layer.self_attention();
    if (attention != nullptr && attention->gates() != nullptr)
      places.push_back({attention, type, static_cast<Index>(i)});
  }
}

// Value rows of width S in every head: that of token s holds one in column s.
Tensor unit_values(const Sequences& keys, Index H, DType type) {
  const Index S = keys.longest();
  const Tensor units = Tensor::zeros({keys.rows(), H * S}, type);
  dispatch(type, [&units, &keys, H, S](auto zero) {
    using T = decltype(zero);
    for (Index b = 0; b < keys.count(); ++b)
      for (Index s = 0; s < keys.length(b); ++s)
        for (Index h = 0; h < H; ++h)
          units.data<T>()[(keys.offset(b) + s) * units.row_stride() + h * S + s] = static_cast<T>(1.0F);
  });
  return units;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double v : values) most = std::max(most, std::fabs(v));
  return most;
}

// Weights times values against what the kind gave.
void require_linear(const AttentionPlace& place, const Tensor& map, const Tensor& value, const Tensor& heads,
                    const Mask& mask) {
  Tape tape({.training = false});
  const Var dense = pad(tape.constant(value), mask.keys, place.heads());
  const auto expected = unpad(batched_matmul(tape.constant(map), dense), mask.queries).value().to_doubles();
  const auto got = heads.to_doubles();
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::fabs(got[i] - expected[i]));
  const double bound = value.type() == DType::f64 ? 1e-9 : value.type() == DType::f32 ? 1e-4 : 0.05;
  if (worst > bound * std::max(largest(got), 1e-30))
    throw ConfigError(join_text("error: ", place.path(),
                                ": this kind of attention is no weighted sum of its ",
                                "values, so there are no weights to show"));
}

}  // namespace

std::string to_string(AttentionType type) {
  return type == AttentionType::encoder ? "encoder" : type == AttentionType::decoder ? "decoder" : "cross";
}

std::vector<AttentionPlace> attention_places(const Transformer& model) {
  std::vector<AttentionPlace> places;
  add_layers(model.encoder(), AttentionType::encoder, places);
  add_layers(model.decoder(), AttentionType::decoder, places);
  add_layers(model.decoder(), AttentionType::cross, places);
  return places;
}

bool has_heads(const ModelSpec& spec) {
  const auto some = [](const std::shared_ptr<AttentionSpec>& attention, const StackSpec& stack) {
    return stack.layers > 0 && stack.backbone == Backbone::attention &&
           Registry<AttentionSpec>::name_of(*attention) != "none";
  };
  return (spec.has_encoder() && some(spec.encoder.attention, spec.encoder)) ||
         (spec.has_decoder() && some(spec.decoder.attention, spec.decoder)) ||
         (spec.has_encoder() && spec.has_decoder() && some(spec.cross_attention, spec.decoder));
}

Mask mask_at(const AttentionPlace& place, const ModelSpec& spec, const ModelInput& input) {
  Mask mask;
  mask.queries = rows_read(spec, place.type != AttentionType::encoder, input);
  mask.keys = rows_read(spec, place.type == AttentionType::decoder, input);
  mask.causal = place.type == AttentionType::decoder;
  return place.attention->kind().narrowed(mask);
}

bool wants_attention(const std::string&, std::string_view what) {
  return what == "query" || what == "key" || what == "value";
}

Tensor attention_map(const AttentionPlace& place, const Recorder& seen, const Mask& mask) {
  const std::string& path = place.path();
  if (seen.find(path, "value") == nullptr)
    throw ConfigError("error: " + path + ": this kind of attention has no values, so it has no weights");
  Tape tape({.training = false});
  const auto input = [&seen, &tape, &path](const char* what) {
    return seen.find(path, what) == nullptr ? Var() : tape.constant(seen.at(path, what));
  };
  const Tensor& value = seen.at(path, "value");
  const Tensor units = unit_values(mask.keys, place.heads(), value.type());
  const AttentionKind& kind = place.attention->kind();
  const Var query = input("query"), key = input("key");
  const Var weights = kind.forward(tape, {query, key, tape.constant(units)}, mask);
  const Tensor map = pad(weights, mask.queries, place.heads()).value();
  // Computed anew: what was seen of the heads may be an intervention's.
  const Tensor heads = kind.forward(tape, {query, key, tape.constant(value)}, mask).value();
  require_linear(place, map, value, heads, mask);
  return map;
}

}  // namespace attnlab
