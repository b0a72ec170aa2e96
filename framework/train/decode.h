// Decoding: what a trained Transformer writes. Encoder-decoders translate sources, decoders continue prompts,
// encoders label the tokens of their source. Sentences of like length are decoded together with cached keys
// and values; which ones changes nothing.
#pragma once

#include <string>

#include "data/tokenizer.h"
#include "models/transformer.h"
#include "train/beam.h"

namespace attnlab {

// Hypotheses of each sentence in the order given. `inputs`: what the encoder reads (</s> included), or the
// prompt of a decoder, at least one token. Greedy for beam 1; otherwise the n_best of a beam search by score,
// all different; with spec.sample, n_best samples in the order drawn. An encoder gives one label per source
// token, without the last where it is </s>. Throws ShapeError for n_best above beam, an empty prompt, input
// beyond learned positions, and a model with a pooled head, which classify() of scoring.h asks.
std::vector<std::vector<Hypothesis>> decode(const Transformer& model,
                                            const std::vector<std::vector<Token>>& inputs,
                                            const DecodeOptions& options);

// Options whose special symbols are the tokenizer's.
DecodeOptions decode_options(const DecodeSpec& spec, const Tokenizer& target, std::uint64_t seed);

// The text of the first hypothesis of each sentence.
std::vector<std::string> best_lines(const std::vector<std::vector<Hypothesis>>& decoded,
                                    const Tokenizer& target);

}  // namespace attnlab
