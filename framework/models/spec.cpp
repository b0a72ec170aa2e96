#include "models/spec.h"

#include <algorithm>

#include "config/error.h"

namespace attnlab {
namespace {

constexpr std::initializer_list<std::pair<const char*, Pooling>> kPools{
    {"none", Pooling::none}, {"last", Pooling::last}, {"cls", Pooling::cls}, {"mean", Pooling::mean}};

bool none_above(std::int64_t most, const std::vector<std::int64_t>& numbers) {
  return std::none_of(numbers.begin(), numbers.end(), [most](std::int64_t n) { return n > most; });
}

}  // namespace

void SkipSpec::fields(Fields& f) {
  f("attention", attention, "skip connection around self-attention");
  f("cross_attention", cross_attention, "skip connection around cross-attention");
  f("mlp", mlp, "skip connection around the MLP");
  f("attention_scale", attention_scale, "factor on the skipped input of self-attention");
  f("cross_attention_scale", cross_attention_scale, "factor on the skipped input of cross-attention");
  f("mlp_scale", mlp_scale, "factor on the skipped input of the MLP");
}

void DropoutSpec::set_all(double rate) {
  if (!(rate >= 0 && rate < 1)) throw ConfigError("a dropout rate must be at least 0 and below 1");
  residual = attention = mlp = embedding = rate;
}

void DropoutSpec::fields(Fields& f) {
  const Bounds rate = between(0, 1, upper_exclusive);
  f("residual", residual, rate, "on each sublayer's output");
  f("attention", attention, rate,
    "on the attention weights, where the kind has them (attnlab list attention)");
  f("mlp", mlp, rate, "on the inner activations of the MLP");
  f("embedding", embedding, rate, "on the sum of embedding and position");
}

void BiasSpec::fields(Fields& f) {
  f("attention", attention, "in the maps to queries, keys and values");
  f("attention_output", attention_output, "in the map out of attention");
  f("mlp", mlp, "in the maps of the MLP");
}

void InputSpec::fields(Fields& f) {
  f.choice("rule", rule, {{"orthogonal", InputRule::orthogonal}, {"init", InputRule::init}},
           "initial weights: an orthogonal matrix, or the rule under init");
  f("gain", gain, above(0), "factor on the initial weights");
  f("bias", bias, "have a bias");
}

void HeadSpec::set_all(const std::string& pool_name) {
  const auto* const found = std::find_if(
      kPools.begin(), kPools.end(), [&pool_name](const auto& entry) { return pool_name == entry.first; });
  if (found == kPools.end()) throw ConfigError("'" + pool_name + "' is no pool: none, last, cls, mean");
  pool = found->second;
}

void HeadSpec::fields(Fields& f) {
  f.choice(
      "pool", pool, kPools,
      "rows that the output maps: none takes every row; last, cls (the first, in encoders) and mean stand "
      "for the example");
  f("rows", rows, at_least(1), "of last: how many; unset: as the task wants", "rows");
  f("gain", gain, at_least(0), "factor on the initial weights of a pooled head");
  f("bias", bias, "of a pooled head");
}

void StackSpec::fields(Fields& f) {
  f.choice("backbone", backbone, {{"attention", Backbone::attention}, {"lstm", Backbone::lstm}},
           "what connects the rows of a sentence: attention, or a long short-term memory from left to right, "
           "without the keys of attention and with skip.attention as its skip");
  f("layers", layers, at_least(0), "layers of the stack");
  f("heads", heads, at_least(1), "attention heads; a kind of attention may set its own");
  f("layer_heads", layer_heads, at_least(0),
    "heads left in each layer's self-attention after removal (their width stays); empty: all");
  f("layer_cross_heads", layer_cross_heads, at_least(0), "the same of cross-attention");
  for (const auto& [key, list] :
       {std::pair{"layer_heads", &layer_heads}, std::pair{"layer_cross_heads", &layer_cross_heads}})
    f.check(list->empty() || static_cast<std::int64_t>(list->size()) == layers, key,
            "one number for each layer");
  f("feed_forward", feed_forward, at_least(1), "inner columns of the MLP");
  f.kind("attention", attention, "self-attention");
  f.check(!attention || none_above(attention->heads.value_or(heads), layer_heads), "layer_heads",
          "more heads left than there are");
  f.scalar_or_section("skip", skip, "skip connections; true or false sets all");
  f.scalar_or_section("mlp", mlp, "MLP sublayers; true or false switches them");
  f.scalar_or_section("norm", norm, "layer normalisation; pre, post or none sets the position");
  f.scalar_or_section("dropout", dropout, "dropout rates; a number sets all");
  f.scalar_or_section("biases", biases, "biases of linear maps; true or false sets all");
  f.section("init", init, "initial weights");
}

void ModelSpec::fields(Fields& f) {
  f.choice("kind", kind,
           {{"encoder_decoder", ModelKind::encoder_decoder},
            {"decoder", ModelKind::decoder},
            {"encoder", ModelKind::encoder}},
           "sequence to sequence, language model, or one label per source token");
  f("width", width, at_least(1), "columns of the residual stream (D)");
  stack.fields(f);
  f.kind("cross_attention", cross_attention, "attention of the decoder to the encoder");
  f.scalar_or_section("positions", positions, "positions; sinusoidal, learned or none sets the kind");
  f.choice("tie", tie, {{"none", Tie::none}, {"output", Tie::output}, {"all", Tie::all}},
           "one matrix for target embedding and output, or for the source embedding too; a pooled head has "
           "its own");
  f.choice("embedding_scale", embedding_scale,
           {{"sqrt_width", EmbeddingScale::sqrt_width}, {"one", EmbeddingScale::one}},
           "factor on embeddings");
  f("output_bias", output_bias, "bias of the output projection");
  f("output_transform", output_transform,
    "a map with the MLP's activation and a norm before the output projection, as BERT has");
  f("token_types", token_types, at_least(0), "learned vectors for types of tokens; 0: none", "types");
  f("embedding_norm", embedding_norm, "norm of the sum of embedding, type and position");
  f("vocabulary", vocabulary, at_least(1), "rows of the token tables; unset: as many as the tokenizer has");
  f.section("input", input, "the linear map, where the task gives vectors");
  f.scalar_or_section("head", head, "output for whole examples; none, last, cls or mean sets the pool");
  f.section("adapters", adapters, "low-rank adapters beside linear maps of the layers (LoRA)");
  f("checkpoint_activations", checkpoint_activations,
    "keep only the input of each layer and compute the rest again in backward: less memory, more time");
  f("from", from,
    "weights to start from: a run folder, a checkpoint, or a published model (safetensors and config.json, "
    "or a .bin file of llama2.c), which also states the keys of this section; empty: none");
  f.choice("weights", weights,
           {{"pretrained", StartingWeights::pretrained},
            {"random", StartingWeights::random},
            {"statistics", StartingWeights::statistics},
            {"permuted", StartingWeights::permuted}},
           "what is taken from there: the numbers, only the shapes (the numbers are those of init), random "
           "numbers of "
           "the same mean and deviation for each parameter, or each parameter's numbers in a random order");
  f.check(!from.empty() || (weights != StartingWeights::statistics && weights != StartingWeights::permuted),
          "weights", "statistics and permuted are made of pretrained weights, but 'from' names none");
  f("reinit", reinit, "patterns over parameter names: what keeps its initial values all the same");
  f("allow", allow,
    "patterns over names in the file and of parameters: what may stay unused, or without a counterpart");
  f.inherits("encoder", encoder, stack, "what the encoder has otherwise");
  f.inherits("decoder", decoder, stack, "what the decoder has otherwise");
  f.check(
      !has_decoder() || !decoder.attention || decoder.attention->promises().causal, "attention",
      "this kind of attention cannot hide the future, which a decoder needs (decoder.attention may differ)");
  f.check(kind != ModelKind::encoder_decoder || decoder.backbone == Backbone::attention, "backbone",
          "a decoder looks at its encoder by attention (encoder.backbone may differ)");
  f.check(kind != ModelKind::encoder_decoder || !cross_attention ||
              none_above(cross_attention->heads.value_or(decoder.heads), decoder.layer_cross_heads),
          "decoder.layer_cross_heads", "more heads left than there are");
  f.check(!pooled() || kind != ModelKind::encoder_decoder, "head",
          "needs kind: encoder or decoder, which read the example alone");
  const bool left_to_right =
      kind == ModelKind::decoder || (kind == ModelKind::encoder && encoder.backbone == Backbone::lstm);
  f.check(head.pool != Pooling::cls || !left_to_right, "head",
          "cls is the first row, which sees only itself here; say last or mean");
}

}  // namespace attnlab
