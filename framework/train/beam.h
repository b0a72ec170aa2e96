// Beam search over one sentence (Graves 2012; scores after Wu et al. 2016, equation 14): hypotheses that go
// on, and a pool of finished ones. It stops only when no hypothesis under way can still enter the pool.
#pragma once

#include <span>
#include <vector>

#include "train/decode_spec.h"
#include "train/log_probability.h"

namespace attnlab {

struct Hypothesis {
  std::vector<Token> ids;      // without <s> and </s>
  double log_probability = 0;  // of the ids, and of </s> where it is finished; natural logarithm
  double score = 0;            // log_probability / length penalty
  bool finished = false;       // ended by </s>, not by the length limit
};

struct DecodeOptions {
  DecodeSpec spec;
  Token bos = 1, eos = 2;  // `bos` is the first that a decoder beside an encoder reads
  std::uint64_t seed = 1;  // of sampling
  // The number that each sentence draws by in sampling; empty: its place.
  std::vector<Index> sentences;
  bool stop_early = true;  // false: search on to the length limit (the result is the same, only slower)

  // What is never written; -1: all tokens may be. Some vocabularies (byte_pairs) have one symbol for <s> and
  // </s>, and a sentence must be able to end.
  Token never() const { return bos == eos ? -1 : bos; }
};

// ((5 + length) / 6)^alpha, where the length counts </s>.
double length_penalty(Index length, double alpha);

// One sentence while it is decoded.
struct Search {
  struct Ongoing {
    std::vector<Token> ids;
    double log_probability = 0;
    Index sample = 0;  // which of a sentence's samples this is
  };
  Index sentence = 0;                // its place in what the caller gave
  Index number = 0;                  // that it draws by
  Index limit = 1;                   // of tokens, </s> counted
  std::vector<Ongoing> live{1};      // one row of the model each; best first in a beam
  std::vector<Hypothesis> finished;  // best first in a beam, at most n_best
  std::vector<Hypothesis> cut;       // what was under way at the limit
  std::vector<Hypothesis> samples;   // of sampling, each in its place
};

// Takes one step: `rows` holds the best beam + 1 tokens of each live hypothesis. Returns which of the live
// ones each of the new ones comes from; none when the sentence is done. Every beam of 1 ends with its first
// </s>.
std::vector<Index> advance_beam(Search& search, std::span<const std::vector<TokenScore>> rows,
                                const DecodeOptions& options);

// The best n_best, finished ones first.
std::vector<Hypothesis> best_of(Search search, const DecodeOptions& options);

}  // namespace attnlab
