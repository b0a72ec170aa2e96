// Llama (Touvron et al. 2023) as Hugging Face stores it, SmolLM2 and others of its form included: a pre-norm
// decoder with RMS norms, rotary positions in halves, SwiGLU and shared key heads.
#include "config/registry.h"
#include "models/weight_family.h"

namespace attnlab {
namespace {

const std::string kLayer = "decoder.layers.{i}.";

// Rotary positions without scaling, over whole heads: what newer files say under rope_parameters, older ones
// under rope_scaling.
void require_plain_rotary(const PublishedConfig& c) {
  for (const std::string group : {"rope_parameters", "rope_scaling"}) {
    for (const char* type : {".rope_type", ".type"}) c.require(group + type, R"("default")");
    c.require(group + ".partial_rotary_factor", "1.0");
  }
  if (!c.has("rope_scaling.rope_type") && !c.has("rope_scaling.type")) c.require("rope_scaling", "null");
  c.require("partial_rotary_factor", "1.0");
}

struct Llama final : WeightFamily {
  std::string model_type() const override { return "llama"; }
  std::vector<std::string> prefixes() const override { return {"", "model."}; }
  std::vector<TensorRule> rules() const override {
    std::vector<TensorRule> all{
        {"embed_tokens.weight", {"target_embedding.weight"}},
        {"layers.{i}.input_layernorm.weight", {kLayer + "self_attention.norm.weight"}},
        {"layers.{i}.post_attention_layernorm.weight", {kLayer + "mlp.norm.weight"}},
        {"norm.weight", {"decoder.norm.weight"}},
        {"lm_head.weight", {"output.weight"}, false, "embed_tokens.weight"},
    };
    for (const auto& [theirs, ours] : {std::pair{"self_attn.q_proj", "self_attention.query"},
                                       {"self_attn.k_proj", "self_attention.key"},
                                       {"self_attn.v_proj", "self_attention.value"},
                                       {"self_attn.o_proj", "self_attention.output"},
                                       {"mlp.gate_proj", "mlp.gate"},
                                       {"mlp.up_proj", "mlp.up"},
                                       {"mlp.down_proj", "mlp.down"}})
      for (const char* part : {".weight", ".bias"})
        all.push_back({std::string("layers.{i}.") + theirs + part, {kLayer + ours + part}});
    return all;
  }
  std::vector<NotOurs> not_ours() const override {
    return {{"layers.*.self_attn.rotary_emb.inv_freq",
             "rates of the rotary positions, which follow from their base"}};
  }

  ModelKeys keys(const PublishedConfig& c) const override {
    c.require("hidden_act", R"("silu")");
    require_plain_rotary(c);
    c.require("pretraining_tp", "1");
    const Index width = c.integer("hidden_size"), heads = c.integer("num_attention_heads");
    const bool attention = c.flag("attention_bias", false);
    const double base = c.number("rope_theta", c.number("rope_parameters.rope_theta", 10000));
    std::string sharing =
        "{kind: scaled_dot, key_value_heads: " + plain(c.integer("num_key_value_heads", heads));
    if (c.has("head_dim")) sharing += ", key_width: " + plain(c.integer("head_dim"));
    return {
        {"kind", "decoder"},
        {"width", plain(width)},
        {"layers", plain(c.integer("num_hidden_layers"))},
        {"heads", plain(heads)},
        {"attention", sharing + "}"},
        {"feed_forward", plain(c.integer("intermediate_size"))},
        {"mlp", "{activation: silu, gated: true}"},
        {"norm", "{position: pre, kind: rms_norm, epsilon: " + plain(c.number("rms_norm_eps", 1e-6)) + "}"},
        {"positions", "{kind: rotary, rotary_pairs: halves, rotary_base: " + plain(base) +
                          ", max_length: " + plain(c.integer("max_position_embeddings", 2048)) + "}"},
        {"dropout",
         "{residual: 0, attention: " + plain(c.number("attention_dropout", 0.0)) + ", mlp: 0, embedding: 0}"},
        {"biases", "{attention: " + plain(attention) + ", attention_output: " + plain(attention) +
                       ", mlp: " + plain(c.flag("mlp_bias", false)) + "}"},
        {"tie", c.flag("tie_word_embeddings", false) ? "output" : "none"},
        {"embedding_scale", "one"},
        {"output_bias", "false"},
        {"vocabulary", plain(c.integer("vocab_size"))},
        {"init", "{rule: normal, standard_deviation: " + plain(c.number("initializer_range", 0.02)) + "}"}};
  }

  std::vector<std::pair<std::string, std::string>> config(const ModelSpec& spec,
                                                          Index vocabulary) const override {
    const StackSpec& stack = only_stack(spec);
    const AttentionSpec& attention = *stack.attention;
    const Index heads = attention.heads.value_or(stack.heads);
    return {{"architectures", R"(["LlamaForCausalLM"])"},
            {"model_type", R"("llama")"},
            {"hidden_act", R"("silu")"},
            {"hidden_size", plain(spec.width)},
            {"num_hidden_layers", plain(stack.layers)},
            {"num_attention_heads", plain(heads)},
            {"num_key_value_heads", plain(attention.key_value_heads.value_or(heads))},
            {"head_dim", plain(attention.key_width.value_or(spec.width / heads))},
            {"intermediate_size", plain(stack.feed_forward)},
            {"max_position_embeddings", plain(spec.positions.max_length)},
            {"rms_norm_eps", plain(stack.norm.epsilon)},
            {"rope_theta", plain(spec.positions.rotary_base)},
            {"attention_dropout", plain(stack.dropout.attention)},
            {"attention_bias", plain(stack.biases.attention)},
            {"mlp_bias", plain(stack.biases.mlp)},
            {"tie_word_embeddings", plain(spec.tie != Tie::none)},
            {"vocab_size", plain(vocabulary)}};
  }
};

const Registered<WeightFamily, Llama> registered{"llama", "Llama, SmolLM2: decoders with rotary positions"};

}  // namespace
}  // namespace attnlab
