// GPT-2 (Radford et al. 2019) as Hugging Face stores it: a pre-norm decoder with learned positions. Its
// linear maps are stored input x output.
#include "config/registry.h"
#include "models/weight_family.h"

namespace attnlab {
namespace {

const std::string kLayer = "decoder.layers.{i}.";

struct Gpt2 final : WeightFamily {
  std::string model_type() const override { return "gpt2"; }
  std::vector<std::string> prefixes() const override { return {"", "transformer."}; }
  std::vector<TensorRule> rules() const override {
    const std::string attention = kLayer + "self_attention.", mlp = kLayer + "mlp.";
    return {
        {"wte.weight", {"target_embedding.weight"}},
        {"wpe.weight", {"target_positions.weight"}},
        {"h.{i}.ln_1.weight", {attention + "norm.weight"}},
        {"h.{i}.ln_1.bias", {attention + "norm.bias"}},
        {"h.{i}.attn.c_attn.weight",
         {attention + "query.weight", attention + "key.weight", attention + "value.weight"},
         true},
        {"h.{i}.attn.c_attn.bias",
         {attention + "query.bias", attention + "key.bias", attention + "value.bias"}},
        {"h.{i}.attn.c_proj.weight", {attention + "output.weight"}, true},
        {"h.{i}.attn.c_proj.bias", {attention + "output.bias"}},
        {"h.{i}.ln_2.weight", {mlp + "norm.weight"}},
        {"h.{i}.ln_2.bias", {mlp + "norm.bias"}},
        {"h.{i}.mlp.c_fc.weight", {mlp + "up.weight"}, true},
        {"h.{i}.mlp.c_fc.bias", {mlp + "up.bias"}},
        {"h.{i}.mlp.c_proj.weight", {mlp + "down.weight"}, true},
        {"h.{i}.mlp.c_proj.bias", {mlp + "down.bias"}},
        {"ln_f.weight", {"decoder.norm.weight"}},
        {"ln_f.bias", {"decoder.norm.bias"}},
        {"lm_head.weight", {"output.weight"}, false, "wte.weight"},
    };
  }
  std::vector<NotOurs> not_ours() const override {
    return {{"h.*.attn.bias", "the causal mask"}, {"h.*.attn.masked_bias", "a constant of the mask"}};
  }

  ModelKeys keys(const PublishedConfig& c) const override {
    c.require("scale_attn_by_inverse_layer_idx", "false");
    c.require("scale_attn_weights", "true");
    c.require("add_cross_attention", "false");
    const Index width = c.integer("n_embd", 768);
    return {
        {"kind", "decoder"},
        {"width", plain(width)},
        {"layers", plain(c.integer("n_layer", 12))},
        {"heads", plain(c.integer("n_head", 12))},
        {"feed_forward", plain(c.integer("n_inner", 4 * width))},
        {"mlp", "{activation: " + activation(c) + ", gated: false}"},
        {"norm",
         "{position: pre, kind: layer_norm, epsilon: " + plain(c.number("layer_norm_epsilon", 1e-5)) + "}"},
        {"positions", "{kind: learned, max_length: " + plain(c.integer("n_positions", 1024)) + "}"},
        {"dropout", "{residual: " + plain(c.number("resid_pdrop", 0.1)) +
                        ", attention: " + plain(c.number("attn_pdrop", 0.1)) +
                        ", mlp: 0, embedding: " + plain(c.number("embd_pdrop", 0.1)) + "}"},
        {"biases", "true"},
        {"tie", c.flag("tie_word_embeddings", true) ? "output" : "none"},
        {"embedding_scale", "one"},
        {"output_bias", "false"},
        {"vocabulary", plain(c.integer("vocab_size", 50257))},
        {"init", "{rule: normal, standard_deviation: " + plain(c.number("initializer_range", 0.02)) + "}"}};
  }

  std::vector<std::pair<std::string, std::string>> config(const ModelSpec& spec,
                                                          Index vocabulary) const override {
    const StackSpec& stack = only_stack(spec);
    return {{"architectures", R"(["GPT2LMHeadModel"])"},
            {"model_type", R"("gpt2")"},
            {"activation_function", stack.mlp.activation == Activation::gelu_tanh ? R"("gelu_new")"
                                    : stack.mlp.activation == Activation::relu    ? R"("relu")"
                                    : stack.mlp.activation == Activation::silu    ? R"("silu")"
                                                                                  : R"("gelu")"},
            {"n_embd", plain(spec.width)},
            {"n_layer", plain(stack.layers)},
            {"n_head", plain(stack.heads)},
            {"n_inner", plain(stack.feed_forward)},
            {"n_positions", plain(spec.positions.max_length)},
            {"layer_norm_epsilon", plain(stack.norm.epsilon)},
            {"resid_pdrop", plain(stack.dropout.residual)},
            {"attn_pdrop", plain(stack.dropout.attention)},
            {"embd_pdrop", plain(stack.dropout.embedding)},
            {"tie_word_embeddings", plain(spec.tie != Tie::none)},
            {"vocab_size", plain(vocabulary)}};
  }

 private:
  static std::string activation(const PublishedConfig& c) {
    const std::string name = c.text("activation_function", "gelu_new");
    if (name == "gelu_new" || name == "gelu_pytorch_tanh") return "gelu_tanh";
    for (const char* known : {"gelu", "relu", "silu"})
      if (name == known) return name;
    c.require("activation_function", R"("gelu_new")");
    return "gelu_tanh";
  }
};

const Registered<WeightFamily, Gpt2> registered{"gpt2", "GPT-2: decoders with learned positions"};

}  // namespace
}  // namespace attnlab
