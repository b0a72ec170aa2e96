// Drawing words from a model's distribution: with a temperature, among the top_k best words, among the best
// words with total probability top_p (Holtzman et al. 2020). Numbers are counter-based: what a sentence draws
// depends on the seed, the sentence's place, the sample and the position, never on its company in a batch.
#pragma once

#include <span>
#include <vector>

#include "train/beam.h"

namespace attnlab {

// One token for each row of logits [N, V]: uniform[i] in [0, 1) decides. options.never() is not
// drawn. The log-probability is the model's own, before temperature and cuts.
std::vector<TokenScore> draw_tokens(const Tensor& logits, const std::vector<double>& uniform,
                                    const DecodeOptions& options);

// The numbers that decide for the next token of each live hypothesis.
std::vector<double> sampling_numbers(const Search& search, const DecodeOptions& options);

// Takes one step: `drawn` holds the next token of each live hypothesis. Returns which of the live ones each
// of the new ones comes from; those that end go to `samples`.
std::vector<Index> advance_samples(Search& search, std::span<const TokenScore> drawn,
                                   const DecodeOptions& options);

}  // namespace attnlab
