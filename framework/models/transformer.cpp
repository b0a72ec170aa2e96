#include "models/transformer.h"

#include <cmath>

#include "config/error.h"
#include "ops/embedding.h"

namespace attnlab {
namespace {

// Modules in messages and profiles.
const std::string kEmbedding = "embedding", kEncoder = "encoder", kDecoder = "decoder", kOutput = "output";

Mask mask_of(const Sequences& queries, const Sequences& keys, bool causal) {
  Mask mask;
  mask.queries = queries;
  mask.keys = keys;
  mask.causal = causal;
  return mask;
}

// Each hypothesis sees the rows of its source sentence.
Sequences keys_of(const DecoderState& state) {
  Sequences keys;
  keys.offsets.clear();
  for (const Index sentence : state.sentence) {
    keys.offsets.push_back(state.source.offset(sentence));
    keys.lengths.push_back(state.source.length(sentence));
  }
  keys.offsets.push_back(state.source.rows());
  return keys;
}

}  // namespace

Transformer::Transformer(ParameterSet& parameters, const ModelSpec& spec, const VocabularySizes& vocabulary)
    : spec_(spec) {
  const Index D = spec.width;
  const Scope root{parameters, spec_.stack.init, ""};
  const Fill fill = normal_fill(spec.stack.init.embedding_gain / std::sqrt(static_cast<double>(D)));
  const auto table = [&](const std::string& name, Index V) {
    return &parameters.add(name + ".weight", {V, D}, fill);
  };
  const bool one_table = spec.tie == Tie::all && spec.has_encoder() && spec.has_decoder();
  if (one_table && !vocabulary.joint)
    throw ConfigError("model.tie: 'all' needs one vocabulary for source and target; this task has two");
  const bool encoder_only = !spec.has_decoder();
  if (encoder_only && spec.tie != Tie::none && !vocabulary.joint)
    throw ConfigError(
        "model.tie: an encoder's embedding and output share weights only with one vocabulary; say tie: none");
  if (one_table) {
    source_table_ = target_table_ = table("embedding", vocabulary.target);
  } else {
    if (spec.has_encoder()) source_table_ = table("source_embedding", vocabulary.source);
    if (spec.has_decoder()) target_table_ = table("target_embedding", vocabulary.target);
  }
  const auto place = [&](const char* name, Parameter* tokens, std::optional<Positions>& positions,
                         Dropout& dropout, double rate) {
    if (tokens == nullptr) return;
    positions.emplace(root / name, spec.positions, D);
    dropout = {rate, stream_name(std::string(name) + ".dropout")};
  };
  place("source_positions", spec.has_encoder() ? source_table_ : nullptr, source_positions_, source_dropout_,
        spec.encoder.dropout.embedding);
  place("target_positions", spec.has_decoder() ? target_table_ : nullptr, target_positions_, target_dropout_,
        spec.decoder.dropout.embedding);
  if (spec.has_encoder()) {
    const Scope scope{parameters, spec_.encoder.init, "encoder"};
    encoder_.emplace(scope, Layer::Plan{spec_.encoder, nullptr, D, spec.positions.max_length, false},
                     spec.checkpoint_activations);
  }
  if (spec.has_decoder()) {
    const Scope scope{parameters, spec_.decoder.init, "decoder"};
    const AttentionSpec* cross = spec.has_encoder() ? spec_.cross_attention.get() : nullptr;
    decoder_.emplace(scope, Layer::Plan{spec_.decoder, cross, D, spec.positions.max_length, true},
                     spec.checkpoint_activations);
  }
  output_ = spec.tie == Tie::none ? table("output", vocabulary.target)
            : encoder_only        ? source_table_
                                  : target_table_;
  if (spec.output_bias)
    output_bias_ = &parameters.add("output.bias", {output_->shape()[0]}, constant_fill(0), false);
}

Var Transformer::embed(Tape& tape, Parameter& table, const TokenRows& tokens, const Positions& positions,
                       const Dropout& dropout, const std::vector<Index>& past) const {
  const Tape::Scope scope(tape, kEmbedding);
  if (observer_ != nullptr) tape.set_observer(observer_);
  const double scale =
      spec_.embedding_scale == EmbeddingScale::sqrt_width ? std::sqrt(static_cast<double>(spec_.width)) : 1;
  const Var x = positions(embedding(tape.leaf(table), tokens.ids, scale), tokens.rows, past);
  return attnlab::dropout(x, dropout, tokens.rows.first_row);
}

Var Transformer::project(const Var& rows) const {
  Tape& tape = rows.tape();
  const Tape::Scope scope(tape, kOutput);
  return linear(rows, tape.leaf(*output_), output_bias_ ? tape.leaf(*output_bias_) : Var());
}

Var Transformer::encode(Tape& tape, const TokenRows& source) const {
  check(encoder_.has_value(), "this model has no encoder");
  const Var x = embed(tape, *source_table_, source, *source_positions_, source_dropout_, {});
  const Tape::Scope scope(tape, kEncoder);
  return encoder_->forward(x, mask_of(source.rows, source.rows, false), {}, nullptr);
}

Var Transformer::hidden(Tape& tape, const ModelInput& input) const {
  if (!decoder_) return encode(tape, input.source);
  const Var memory = encoder_ ? encode(tape, input.source) : Var();
  const Var x = embed(tape, *target_table_, input.target, *target_positions_, target_dropout_, {});
  const Mask self = mask_of(input.target.rows, input.target.rows, true);
  const Mask cross = mask_of(input.target.rows, input.source.rows, false);
  const Tape::Scope scope(tape, kDecoder);
  return decoder_->forward(x, self, memory, encoder_ ? &cross : nullptr);
}

Var Transformer::logits(Tape& tape, const ModelInput& input) const { return project(hidden(tape, input)); }

CrossEntropy Transformer::loss(Tape& tape, const ModelInput& input,
                               const CrossEntropyOptions& options) const {
  const Var rows = logits(tape, input);
  const Tape::Scope scope(tape, kOutput);
  return cross_entropy(rows, input.labels, options);
}

DecoderState Transformer::start(Tape& tape, const TokenRows& source, Index per_sentence) const {
  check(decoder_ && encoder_, "decoding from a source needs an encoder-decoder");
  DecoderState state;
  state.source = source.rows;
  for (Index b = 0; b < source.rows.count(); ++b)
    for (Index i = 0; i < per_sentence; ++i) state.sentence.push_back(b);
  state.lengths.assign(state.sentence.size(), 0);
  state.layers = decoder_->start(static_cast<Index>(state.sentence.size()), encode(tape, source));
  return state;
}

DecoderState Transformer::start(Index sentences) const {
  check(decoder_ && !encoder_, "decoding without a source needs a decoder-only model");
  DecoderState state;
  for (Index b = 0; b < sentences; ++b) state.sentence.push_back(b);
  state.lengths.assign(state.sentence.size(), 0);
  state.layers = decoder_->start(sentences, {});
  return state;
}

Var Transformer::step(Tape& tape, DecoderState& state, const TokenRows& tokens) const {
  const Index count = static_cast<Index>(state.sentence.size());
  check(tokens.rows.count() == count, "step: tokens of ", tokens.rows.count(), " hypotheses, but ", count,
        " are under way");
  Mask self = mask_of(tokens.rows, tokens.rows, true);
  self.past = state.lengths;
  const Mask cross = mask_of(tokens.rows, encoder_ ? keys_of(state) : Sequences{}, false);
  const Var x = embed(tape, *target_table_, tokens, *target_positions_, target_dropout_, state.lengths);
  const Var rows = decoder_->step(x, self, encoder_ ? &cross : nullptr, state.layers);
  for (Index b = 0; b < count; ++b) state.lengths[static_cast<std::size_t>(b)] += tokens.rows.length(b);
  if (tokens.rows.rows() == count) return project(rows);
  // Several tokens at once (a prompt): only each hypothesis' last row is wanted.
  std::vector<std::int32_t> last;
  for (Index b = 0; b < count; ++b)
    last.push_back(static_cast<std::int32_t>(tokens.rows.offset(b) + tokens.rows.length(b) - 1));
  return project(embedding(rows, last, 1));
}

void Transformer::reorder(DecoderState& state, const std::vector<Index>& parents) const {
  for (LayerState& layer : state.layers) layer.self->reorder(parents);
  std::vector<Index> sentence, lengths;
  for (const Index parent : parents) {
    sentence.push_back(state.sentence[static_cast<std::size_t>(parent)]);
    lengths.push_back(state.lengths[static_cast<std::size_t>(parent)]);
  }
  state.sentence = std::move(sentence);
  state.lengths = std::move(lengths);
}

}  // namespace attnlab
