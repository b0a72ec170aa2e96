// The importance of heads (Michel et al. 2019, equation 2): how much the loss would move with the head's
// gate, I_h = E |dL / d gate_h|, from the gate's gradient at every token.
#pragma once

#include <vector>

#include "study/attention_places.h"
#include "study/probe_subject.h"

namespace attnlab {

// Where the absolute value is taken: at every token, as in the paper's code; after summing over a sentence,
// as in its formula; or after summing over a batch, as in a later library, which shrinks as batches grow.
enum class ImportanceEstimator { token, sample, batch };

// Sums that make all three estimators, for the heads of one place.
struct HeadImportance {
  AttentionPlace place;
  std::vector<double> token, sample, batch;  // means over tokens, sentences, batches

  const std::vector<double>& of(ImportanceEstimator estimator) const {
    return estimator == ImportanceEstimator::token    ? token
           : estimator == ImportanceEstimator::sample ? sample
                                                      : batch;
  }
};

// Of every head of every place, in their order, by one backward pass over the subject's sentences; the loss
// is the sum of -log p(label) in nats. The model must have no dropout (load_for_probing).
std::vector<HeadImportance> head_importance(ProbeSubject& subject);

// Divided by the l2 norm over the heads of the layer, if that is not zero.
std::vector<double> normalised(std::vector<double> values);

}  // namespace attnlab
