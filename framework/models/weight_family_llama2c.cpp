// Llama's form under the names of the llama2.c code (the tinyllamas): rotary positions in neighbours, the
// output tied to the embedding. These files come without a config.json; their metadata may say as much.
#include "config/registry.h"
#include "models/weight_family.h"

namespace attnlab {
namespace {

const std::string kLayer = "decoder.layers.{i}.";

struct Llama2c final : WeightFamily {
  std::string model_type() const override { return ""; }
  std::vector<TensorRule> rules() const override {
    return {
        {"tok_embeddings.weight", {"target_embedding.weight"}},
        {"layers.{i}.attention_norm.weight", {kLayer + "self_attention.norm.weight"}},
        {"layers.{i}.attention.wq.weight", {kLayer + "self_attention.query.weight"}},
        {"layers.{i}.attention.wk.weight", {kLayer + "self_attention.key.weight"}},
        {"layers.{i}.attention.wv.weight", {kLayer + "self_attention.value.weight"}},
        {"layers.{i}.attention.wo.weight", {kLayer + "self_attention.output.weight"}},
        {"layers.{i}.ffn_norm.weight", {kLayer + "mlp.norm.weight"}},
        {"layers.{i}.feed_forward.w1.weight", {kLayer + "mlp.gate.weight"}},
        {"layers.{i}.feed_forward.w2.weight", {kLayer + "mlp.down.weight"}},
        {"layers.{i}.feed_forward.w3.weight", {kLayer + "mlp.up.weight"}},
        {"norm.weight", {"decoder.norm.weight"}},
        {"output.weight", {"output.weight"}, false, "tok_embeddings.weight"},
    };
  }
  std::vector<NotOurs> not_ours() const override {
    return {{"freqs_*", "tables of the rotary positions, which follow from their base"}};
  }
  // What conversions to safetensors say in the file's metadata, under the names of llama2.c.
  ModelKeys keys(const PublishedConfig& c) const override {
    if (!c.has("dim")) return {};
    const Index heads = c.integer("n_heads");
    return {
        {"kind", "decoder"},
        {"width", plain(c.integer("dim"))},
        {"layers", plain(c.integer("n_layers"))},
        {"heads", plain(heads)},
        {"attention", "{kind: scaled_dot, key_value_heads: " + plain(c.integer("n_kv_heads", heads)) + "}"},
        {"feed_forward", plain(c.integer("hidden_dim"))},
        {"mlp", "{activation: silu, gated: true}"},
        {"norm", "{position: pre, kind: rms_norm, epsilon: " + plain(c.number("norm_eps", 1e-5)) + "}"},
        {"positions", "{kind: rotary, rotary_pairs: neighbours, rotary_base: 10000, max_length: " +
                          plain(c.integer("max_seq_len")) + "}"},
        {"dropout", "0"},
        {"biases", "false"},
        {"tie", c.flag("tied_embeddings", true) ? "output" : "none"},
        {"embedding_scale", "one"},
        {"output_bias", "false"},
        {"vocabulary", plain(c.integer("vocab_size"))}};
  }
  std::vector<std::pair<std::string, std::string>> config(const ModelSpec&, Index) const override {
    return {};
  }
};

const Registered<WeightFamily, Llama2c> registered{"llama2c", "the tinyllamas of llama2.c"};

}  // namespace
}  // namespace attnlab
