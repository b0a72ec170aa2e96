// The keys under `model:`. Every row of Vaswani's table of ablations is a toggle here; encoder and decoder
// inherit all keys of a stack and may set their own.
#pragma once

#include "attention/attention.h"
#include "nn/adapter.h"
#include "nn/mlp.h"
#include "nn/normalise.h"
#include "nn/positions.h"

namespace attnlab {

enum class ModelKind { encoder_decoder, decoder, encoder };
enum class Tie { none, output, all };
enum class EmbeddingScale { sqrt_width, one };
enum class StartingWeights { pretrained, random, statistics, permuted };
enum class Pooling { none, last, cls, mean };
enum class InputRule { orthogonal, init };
enum class Backbone { attention, lstm };

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

struct BiasSpec {
  using Scalar = bool;
  bool attention = true, attention_output = true, mlp = true;
  void set_all(bool on) { attention = attention_output = mlp = on; }
  void fields(Fields& f);
};

// The linear map of a model that reads vectors.
struct InputSpec {
  InputRule rule = InputRule::orthogonal;
  double gain = 1;
  bool bias = true;
  void fields(Fields& f);
};

// Where the output looks: at every row, or at rows of each example that stand for the whole.
struct HeadSpec {
  using Scalar = std::string;
  Pooling pool = Pooling::none;
  std::optional<std::int64_t> rows;
  double gain = 1;
  bool bias = true;
  void set_all(const std::string& pool_name);  // ConfigError for an unknown one
  void fields(Fields& f);
};

// A stack of layers: what encoder and decoder have in common.
struct StackSpec {
  Backbone backbone = Backbone::attention;
  std::int64_t layers = 3, heads = 4, feed_forward = 512;
  std::vector<std::int64_t> layer_heads, layer_cross_heads;  // heads left in each layer; empty: all
  std::shared_ptr<AttentionSpec> attention = Registry<AttentionSpec>::make("scaled_dot");
  SkipSpec skip;
  MlpSpec mlp;
  NormSpec norm;
  DropoutSpec dropout;
  BiasSpec biases;
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
  bool output_bias = false, output_transform = false;
  std::int64_t token_types = 0;
  bool embedding_norm = false;
  std::optional<std::int64_t> vocabulary;
  InputSpec input;
  HeadSpec head;
  AdapterSpec adapters;
  bool checkpoint_activations = false;
  std::string from;
  StartingWeights weights = StartingWeights::pretrained;
  std::vector<std::string> reinit, allow;
  StackSpec encoder, decoder;
  void fields(Fields& f);

  bool has_encoder() const { return kind != ModelKind::decoder; }
  bool has_decoder() const { return kind != ModelKind::encoder; }
  bool pooled() const {
    return head.pool != Pooling::none;
  }  // labels of examples, which are read as the source
};

}  // namespace attnlab
