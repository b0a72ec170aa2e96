#include "train/decode_spec.h"

namespace attnlab {

void DecodeSpec::fields(Fields& f) {
  f("beam", beam, at_least(1), "hypotheses kept per sentence; 1: greedy");
  f("n_best", n_best, at_least(1), "hypotheses given per sentence: at most beam; any number of samples");
  f("length_penalty", length_penalty, at_least(0), "alpha of ((5 + length) / 6)^alpha; length counts </s>");
  f("max_extra", max_extra, at_least(1), "longest output: source length plus this", "tokens");
  f("max_ratio", max_ratio, above(0), "longest output as a multiple of the source length, if that is less");
  f("batch_sentences", batch_sentences, at_least(1), "sentences decoded at once");
  f("sample", sample, "draw words by their probability instead of searching for the best ones");
  f("temperature", temperature, above(0), "of sampling");
  f("top_k", top_k, at_least(0), "sample among so many best words; 0: all");
  f("top_p", top_p, between(0, 1), "sample among the best words with this total probability");
  f.check(sample || n_best <= beam, "n_best", "is above beam");
}

}  // namespace attnlab
