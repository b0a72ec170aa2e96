// What the properties are tested on: an attention of one kind with random weights, situations that bring
// every sort of mask, and problems that can be laid out in other ways.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attention/multi_head.h"

namespace attnlab {

struct Dimensions {
  Index width = 0, heads = 0, key_width = 0, value_width = 0;
};

// A kind with its own keys at some value.
struct Subject {
  std::string kind;
  std::string label;  // "width=2: "; empty for the defaults
  std::shared_ptr<AttentionSpec> spec;
  Dimensions small, large;  // odd sizes, unless the kind refuses them
  Promises promises() const { return spec->promises(); }
};

// The default, and one subject for each key of the kind's own, changed. ConfigError if there is no such kind
// or if it cannot be built.
std::vector<Subject> subjects(const std::string& kind);
// The kind's own keys that accept another value and still hold what they held before.
std::vector<std::string> keys_without_effect(const std::string& kind);

struct RigPlan {
  DType type = DType::f64;
  bool causal = false;
  bool large = false;  // longer sentences and wider heads
  double dropout = 0;
};

// A built attention. Its weights are the initial ones plus noise, so that biases are not zero.
struct Rig {
  Rig(const Subject& subject, const RigPlan& rig_plan);
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;
  bool has_core() const { return attention->kind().projections().output; }
  const AttentionShape& shape() const { return attention->shape(); }

  RigPlan plan;
  Dimensions dimensions;
  InitSpec init;
  ParameterSet parameters;
  std::unique_ptr<MultiHeadAttention> attention;
};

// A mask to try, and whether the queries are the memory.
struct Situation {
  std::string name;
  Mask mask;
  bool self = true;
  RigPlan plan(DType type = DType::f64, bool large = false) const { return {type, mask.causal, large, 0}; }
};

// Self, cross, and what the kind promises of causal, band and intervals; some queries see nothing.
std::vector<Situation> small_situations(const Promises& promises);
// The same sorts with sentences longer than a kernel's block.
std::vector<Situation> large_situations(const Promises& promises);

}  // namespace attnlab
