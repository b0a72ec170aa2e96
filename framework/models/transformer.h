// The Transformer in its three forms, from the same blocks: encoder-decoder, decoder only (a language model)
// and encoder only (one label per source token). A decoder or encoder with a pooled head gives labels of
// whole examples. All work on ragged rows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "models/output_head.h"
#include "models/stack.h"
#include "models/stack_input.h"
#include "ops/cross_entropy.h"

namespace attnlab {

struct ModelInput {
  TokenRows source;                  // unused by a decoder, but for one with a pooled head, which reads it
  TokenRows target;                  // what the decoder reads otherwise; unused by an encoder
  std::vector<std::int32_t> labels;  // one per row of logits
  Tensor hidden = {};  // rows that the output maps, where they are known: nothing before it is computed
};

struct VocabularySizes {
  Index source = 0, target = 0;
  bool joint = false;     // source and target ids mean the same words
  Index vectors = 0;      // columns of the vectors that the source consists of; 0: it consists of ids
  AnswerShape answers{};  // of a model with a pooled head, whose target vocabulary are its classes
};

// Hypotheses under way. Hypothesis i belongs to sentence sentence[i] of the source.
struct DecoderState {
  std::vector<LayerState> layers;
  std::vector<Index> sentence;
  std::vector<Index> lengths;  // tokens read so far
  Sequences source;
};

class Transformer {
 public:
  // Declares all parameters in `parameters`. Throws ConfigError where the spec cannot be built: a tie over
  // different vocabularies, an attention that cannot hide the future, a width that the heads do not divide,
  // vectors without a pooled head.
  Transformer(ParameterSet& parameters, const ModelSpec& spec, const VocabularySizes& vocabulary);

  Var encode(Tape& tape, const TokenRows& source) const;  // [M, D]; only with an encoder
  Var hidden(Tape& tape, const ModelInput& input) const;  // rows that the output maps
  Var logits(Tape& tape, const ModelInput& input) const;  // [labels, V]
  CrossEntropy loss(Tape& tape, const ModelInput& input, const CrossEntropyOptions& options) const;

  // Decoding. `per_sentence` hypotheses for each source sentence, in order; a language model takes
  // `sentences` of them.
  DecoderState start(Tape& tape, const TokenRows& source, Index per_sentence) const;
  DecoderState start(Index sentences) const;
  // Reads the next tokens of every hypothesis (row i of `tokens` are hypothesis i's) -> logits of the last
  // rows [count, V].
  Var step(Tape& tape, DecoderState& state, const TokenRows& tokens) const;
  // Hypothesis i goes on from what was parents[i].
  void reorder(DecoderState& state, const std::vector<Index>& parents) const;

  // Shows the observer, who must outlive its use, what happens on every tape from now on; nullptr: nobody.
  void set_observer(Observer* observer) { observer_ = observer; }
  Observer* observer() const { return observer_; }

  const ModelSpec& spec() const { return spec_; }
  const Stack* encoder() const { return encoder_ ? &*encoder_ : nullptr; }
  const Stack* decoder() const { return decoder_ ? &*decoder_ : nullptr; }
  Index output_size() const { return head_.classes(); }

 private:
  void declare_tables(const Scope& root, const VocabularySizes& vocabulary);
  void watch(Tape& tape) const;  // lets the observer see what happens on the tape
  Parameter& table(const Scope& root, const std::string& name, Index rows) const;

  ModelSpec spec_;
  Observer* observer_ = nullptr;
  Parameter* source_table_ = nullptr;
  Parameter* target_table_ = nullptr;
  StackInput source_input_, target_input_;
  std::optional<Stack> encoder_, decoder_;
  OutputHead head_;
};

}  // namespace attnlab
