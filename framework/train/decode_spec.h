// The keys under `decode:`: how a trained model writes.
#pragma once

#include <cstdint>

#include "config/fields.h"

namespace attnlab {

struct DecodeSpec {
  std::int64_t beam = 4;
  std::int64_t n_best = 1;
  double length_penalty = 0.6;
  std::int64_t max_extra = 50;
  double max_ratio = 3;
  std::int64_t batch_sentences = 64;
  bool sample = false;
  double temperature = 1;
  std::int64_t top_k = 0;
  double top_p = 1;
  void fields(Fields& f);
};

}  // namespace attnlab
