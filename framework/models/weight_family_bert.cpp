// BERT (Devlin et al. 2019) as Hugging Face stores it, MiniLM and others of its form included: a post-norm
// encoder with learned positions, token types and a norm of the embeddings.
#include "config/registry.h"
#include "models/weight_family.h"

namespace attnlab {
namespace {

const std::string kLayer = "encoder.layers.{i}.";

struct Bert final : WeightFamily {
  std::string model_type() const override { return "bert"; }
  std::vector<std::string> prefixes() const override { return {"", "bert."}; }
  std::string prefix_of(const ModelSpec& spec) const override { return spec.output_transform ? "bert." : ""; }
  std::vector<TensorRule> rules() const override {
    std::vector<TensorRule> all{
        {"embeddings.word_embeddings.weight", {"source_embedding.weight"}},
        {"embeddings.position_embeddings.weight", {"source_positions.weight"}},
        {"embeddings.token_type_embeddings.weight", {"source_types.weight"}},
        {"cls.predictions.decoder.weight", {"output.weight"}, false, "embeddings.word_embeddings.weight"},
        {"cls.predictions.bias", {"output.bias"}},
        {"cls.predictions.decoder.bias", {}, false, "cls.predictions.bias"},
    };
    const auto both = [&all](const std::string& tensor, const std::string& ours) {
      for (const char* part : {".weight", ".bias"}) all.push_back({tensor + part, {ours + part}});
    };
    both("embeddings.LayerNorm", "source_embedding.norm");
    for (const char* part : {"query", "key", "value"})
      both(std::string("encoder.layer.{i}.attention.self.") + part, kLayer + "self_attention." + part);
    both("encoder.layer.{i}.attention.output.dense", kLayer + "self_attention.output");
    both("encoder.layer.{i}.attention.output.LayerNorm", kLayer + "self_attention.norm");
    both("encoder.layer.{i}.intermediate.dense", kLayer + "mlp.up");
    both("encoder.layer.{i}.output.dense", kLayer + "mlp.down");
    both("encoder.layer.{i}.output.LayerNorm", kLayer + "mlp.norm");
    both("cls.predictions.transform.dense", "output.transform");
    both("cls.predictions.transform.LayerNorm", "output.transform.norm");
    return all;
  }
  std::vector<NotOurs> not_ours() const override {
    return {{"embeddings.position_ids", "the numbers from 0 on"},
            {"pooler.*", "the map of the first row for its own tasks"},
            {"cls.seq_relationship.*", "the head of its next-sentence task"}};
  }
  std::vector<std::pair<std::string, std::string>> old_endings() const override {
    return {{"LayerNorm.gamma", "LayerNorm.weight"}, {"LayerNorm.beta", "LayerNorm.bias"}};
  }

  ModelKeys keys(const PublishedConfig& c) const override {
    c.require("position_embedding_type", R"("absolute")");
    c.require("is_decoder", "false");
    const bool words = c.json("architectures").find("MaskedLM") != std::string::npos;
    return {
        {"kind", "encoder"},
        {"width", plain(c.integer("hidden_size", 768))},
        {"layers", plain(c.integer("num_hidden_layers", 12))},
        {"heads", plain(c.integer("num_attention_heads", 12))},
        {"feed_forward", plain(c.integer("intermediate_size", 3072))},
        {"mlp", "{activation: " + activation(c) + ", gated: false}"},
        {"norm",
         "{position: post, kind: layer_norm, epsilon: " + plain(c.number("layer_norm_eps", 1e-12)) + "}"},
        {"positions",
         "{kind: learned, max_length: " + plain(c.integer("max_position_embeddings", 512)) + "}"},
        {"dropout", "{residual: " + plain(c.number("hidden_dropout_prob", 0.1)) +
                        ", attention: " + plain(c.number("attention_probs_dropout_prob", 0.1)) +
                        ", mlp: 0, embedding: " + plain(c.number("hidden_dropout_prob", 0.1)) + "}"},
        {"biases", "true"},
        {"token_types", plain(c.integer("type_vocab_size", 2))},
        {"embedding_norm", "true"},
        {"embedding_scale", "one"},
        {"tie", words && c.flag("tie_word_embeddings", true) ? "output" : "none"},
        {"output_bias", plain(words)},
        {"output_transform", plain(words)},
        {"vocabulary", plain(c.integer("vocab_size", 30522))},
        {"init", "{rule: normal, standard_deviation: " + plain(c.number("initializer_range", 0.02)) + "}"}};
  }

  std::vector<std::pair<std::string, std::string>> config(const ModelSpec& spec,
                                                          Index vocabulary) const override {
    const StackSpec& stack = only_stack(spec);
    return {{"architectures", spec.output_transform ? R"(["BertForMaskedLM"])" : R"(["BertModel"])"},
            {"model_type", R"("bert")"},
            {"hidden_act", stack.mlp.activation == Activation::gelu_tanh ? R"("gelu_new")"
                           : stack.mlp.activation == Activation::relu    ? R"("relu")"
                           : stack.mlp.activation == Activation::silu    ? R"("silu")"
                                                                         : R"("gelu")"},
            {"hidden_size", plain(spec.width)},
            {"num_hidden_layers", plain(stack.layers)},
            {"num_attention_heads", plain(stack.heads)},
            {"intermediate_size", plain(stack.feed_forward)},
            {"max_position_embeddings", plain(spec.positions.max_length)},
            {"layer_norm_eps", plain(stack.norm.epsilon)},
            {"hidden_dropout_prob", plain(stack.dropout.residual)},
            {"attention_probs_dropout_prob", plain(stack.dropout.attention)},
            {"type_vocab_size", plain(spec.token_types)},
            {"tie_word_embeddings", plain(spec.tie != Tie::none)},
            {"vocab_size", plain(vocabulary)}};
  }

 private:
  static std::string activation(const PublishedConfig& c) {
    const std::string name = c.text("hidden_act", "gelu");
    if (name == "gelu_new" || name == "gelu_pytorch_tanh") return "gelu_tanh";
    for (const char* known : {"gelu", "relu", "silu"})
      if (name == known) return name;
    c.require("hidden_act", R"("gelu")");
    return "gelu";
  }
};

const Registered<WeightFamily, Bert> registered{"bert", "BERT, MiniLM: encoders with learned positions"};

}  // namespace
}  // namespace attnlab
