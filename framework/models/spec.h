// The keys under `model:`. Every row of Vaswani's table of ablations is a toggle here; encoder and decoder
// inherit all keys of a stack and may set their own.
#pragma once

#include "attention/attention.h"
#include "nn/mlp.h"
#include "nn/normalise.h"
#include "nn/positions.h"

namespace attnlab {

enum class ModelKind { encoder_decoder, decoder, encoder };
enum class Tie { none, output, all };
enum class EmbeddingScale { sqrt_width, one };

struct SkipSpec {
  using Scalar = bool;
  bool attention = true, cross_attention = true, mlp = true;
  double attention_scale = 1, cross_attention_scale = 1, mlp_scale = 1;
  void set_all(bool on) { attention = cross_attention = mlp = on; }
  void fields(Fields& f);
};

struct DropoutSpec {
  using Scalar = double;
  double residual = 0.1, attention = 0.1, mlp = 0.1, embedding = 0.1;
  void set_all(double rate);  // ConfigError outside [0, 1)
  void fields(Fields& f);
};

// A stack of layers: what encoder and decoder have in common.
struct StackSpec {
  std::int64_t layers = 3, heads = 4, feed_forward = 512;
  std::vector<std::int64_t> layer_heads, layer_cross_heads;  // heads left in each layer; empty: all
  std::shared_ptr<AttentionSpec> attention = Registry<AttentionSpec>::make("scaled_dot");
  SkipSpec skip;
  MlpSpec mlp;
  NormSpec norm;
  DropoutSpec dropout;
  bool biases = true;
  InitSpec init;
  void fields(Fields& f);
};

struct ModelSpec {
  ModelKind kind = ModelKind::encoder_decoder;
  std::int64_t width = 128;
  StackSpec stack;
  std::shared_ptr<AttentionSpec> cross_attention = Registry<AttentionSpec>::make("scaled_dot");
  PositionSpec positions;
  Tie tie = Tie::output;
  EmbeddingScale embedding_scale = EmbeddingScale::sqrt_width;
  bool output_bias = false;
  bool checkpoint_activations = false;
  std::string from;
  StackSpec encoder, decoder;
  void fields(Fields& f);

  bool has_encoder() const { return kind != ModelKind::decoder; }
  bool has_decoder() const { return kind != ModelKind::encoder; }
};

}  // namespace attnlab
