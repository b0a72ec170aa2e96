#include "models/transformer.h"

#include <cmath>

#include "config/error.h"
#include "ops/embedding.h"

namespace attnlab {
namespace {

// Modules in messages and profiles.
const std::string kEncoder = "encoder", kDecoder = "decoder";

Mask mask_of(const Sequences& queries, const Sequences& keys, bool causal) {
  Mask mask;
  mask.queries = queries;
  mask.keys = keys;
  mask.causal = causal;
  return mask;
}

// Each hypothesis sees the rows of its source sentence. Where `grouped`, hypotheses of one sentence that
// follow each other are its queries together, so that its keys and values are read once for all of them; what
// a query sees must then not depend on its own position.
Mask cross_mask(const DecoderState& state, const Sequences& tokens, bool grouped) {
  Mask mask;
  mask.queries.offsets = {0};
  mask.keys.offsets.clear();
  for (std::size_t i = 0; i < state.sentence.size(); ++i) {
    const Index sentence = state.sentence[i], end = tokens.offset(static_cast<Index>(i) + 1);
    if (grouped && i > 0 && state.sentence[i - 1] == sentence) {
      mask.queries.offsets.back() = end;
      continue;
    }
    mask.queries.offsets.push_back(end);
    mask.keys.offsets.push_back(state.source.offset(sentence));
    mask.keys.lengths.push_back(state.source.length(sentence));
    if (!grouped) mask.past.push_back(state.lengths[i]);
  }
  mask.keys.offsets.push_back(state.source.rows());
  return mask;
}

// Rows of a token table: the tokenizer's entries, or more where published weights have more.
Index table_rows(const ModelSpec& spec, Index entries) {
  const Index rows = spec.vocabulary.value_or(entries);
  if (rows < entries)
    throw ConfigError(join_text("model.vocabulary: ", rows, " rows are too few for a tokenizer with ",
                                entries, " entries"));
  return rows;
}

}  // namespace

Transformer::Transformer(ParameterSet& parameters, const ModelSpec& spec, const VocabularySizes& vocabulary)
    : spec_(spec) {
  const Index D = spec.width;
  const Scope root{parameters, spec_.stack.init, ""};
  declare_tables(root, vocabulary);
  if (spec.has_encoder())
    source_input_ =
        StackInput(root, {spec, "source", source_table_, vocabulary.vectors, spec.encoder.dropout.embedding});
  if (spec.has_decoder())
    target_input_ =
        StackInput(root, {spec, "target", target_table_, vocabulary.vectors, spec.decoder.dropout.embedding});
  if (spec.has_encoder()) {
    const Scope scope{parameters, spec_.encoder.init, "encoder", &spec_.adapters};
    encoder_.emplace(
        scope, Layer::Plan{spec_.encoder, nullptr, D, spec.positions.max_length, false, &spec_.positions},
        spec.checkpoint_activations);
  }
  if (spec.has_decoder()) {
    const Scope scope{parameters, spec_.decoder.init, "decoder", &spec_.adapters};
    const AttentionSpec* cross = spec.has_encoder() ? spec_.cross_attention.get() : nullptr;
    decoder_.emplace(scope,
                     Layer::Plan{spec_.decoder, cross, D, spec.positions.max_length, true, &spec_.positions},
                     spec.checkpoint_activations);
  }
  require_targets(spec.adapters, parameters);
  if (spec.pooled()) {
    head_ = OutputHead(root, spec, vocabulary.answers, vocabulary.target);
    return;
  }
  Parameter* tied = spec.has_decoder() ? target_table_ : source_table_;
  head_ = OutputHead(
      root, spec, spec.tie != Tie::none ? *tied : table(root, "output", table_rows(spec, vocabulary.target)));
}

void Transformer::watch(Tape& tape) const {
  if (observer_ != nullptr) tape.set_observer(observer_);
}

Parameter& Transformer::table(const Scope& root, const std::string& name, Index rows) const {
  const double deviation = root.init.embedding_gain / std::sqrt(static_cast<double>(spec_.width));
  return root.parameters.add(name + ".weight", {rows, spec_.width}, normal_fill(deviation));
}

void Transformer::declare_tables(const Scope& root, const VocabularySizes& vocabulary) {
  const ModelSpec& spec = spec_;
  const bool both = spec.has_encoder() && spec.has_decoder();
  if (vocabulary.vectors > 0) {
    if (!spec.pooled()) throw ConfigError("model.head: a model that reads vectors needs a pool");
    return;
  }
  if (both && spec.tie == Tie::all) {
    if (!vocabulary.joint)
      throw ConfigError("model.tie: 'all' needs one vocabulary for source and target; this task has two");
    source_table_ = target_table_ = &table(root, "embedding", table_rows(spec, vocabulary.target));
    return;
  }
  if (!spec.has_decoder() && !spec.pooled() && spec.tie != Tie::none && !vocabulary.joint)
    throw ConfigError(
        "model.tie: an encoder's embedding and output share weights only with one vocabulary; say tie: none");
  if (spec.has_encoder())
    source_table_ = &table(root, "source_embedding", table_rows(spec, vocabulary.source));
  if (spec.has_decoder())
    target_table_ = &table(root, "target_embedding",
                           table_rows(spec, spec.pooled() ? vocabulary.source : vocabulary.target));
}

Var Transformer::encode(Tape& tape, const TokenRows& source) const {
  check(encoder_.has_value(), "this model has no encoder");
  watch(tape);
  const Var x = source_input_(tape, source, {});
  const Tape::Scope scope(tape, kEncoder);
  return encoder_->forward(x, mask_of(source.rows, source.rows, false), {}, nullptr);
}

Var Transformer::hidden(Tape& tape, const ModelInput& input) const {
  if (input.hidden) return tape.constant(input.hidden);
  watch(tape);
  if (!decoder_) return head_.pool(encode(tape, input.source), input.source.rows);
  if (spec_.pooled()) {
    const Sequences& rows = input.source.rows;
    const Var x = target_input_(tape, input.source, {});
    const Tape::Scope scope(tape, kDecoder);
    return head_.pool(decoder_->forward(x, mask_of(rows, rows, true), {}, nullptr), rows);
  }
  const Var memory = encoder_ ? encode(tape, input.source) : Var();
  const Var x = target_input_(tape, input.target, {});
  const Mask self = mask_of(input.target.rows, input.target.rows, true);
  const Mask cross = mask_of(input.target.rows, input.source.rows, false);
  const Tape::Scope scope(tape, kDecoder);
  return decoder_->forward(x, self, memory, encoder_ ? &cross : nullptr);
}

Var Transformer::logits(Tape& tape, const ModelInput& input) const { return head_(hidden(tape, input)); }

CrossEntropy Transformer::loss(Tape& tape, const ModelInput& input,
                               const CrossEntropyOptions& options) const {
  return head_.loss(hidden(tape, input), input.labels, options);
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
  const MultiHeadAttention* attention =
      decoder_->layers().empty() ? nullptr : decoder_->layers().front().cross_attention();
  const bool grouped = attention != nullptr && attention->promises().key_permutation;
  const Mask cross = encoder_ ? cross_mask(state, tokens.rows, grouped) : Mask{};
  watch(tape);
  const Var x = target_input_(tape, tokens, state.lengths);
  const Var rows = decoder_->step(x, self, encoder_ ? &cross : nullptr, state.layers);
  for (Index b = 0; b < count; ++b) state.lengths[static_cast<std::size_t>(b)] += tokens.rows.length(b);
  if (tokens.rows.rows() == count) return head_(rows);
  // Several tokens at once (a prompt): only each hypothesis' last row is wanted.
  std::vector<std::int32_t> last;
  for (Index b = 0; b < count; ++b)
    last.push_back(static_cast<std::int32_t>(tokens.rows.offset(b) + tokens.rows.length(b) - 1));
  return head_(embedding(rows, last, 1));
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
