// Interventions: putting something else in the place of what heads and sublayers give, without touching a
// weight.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "study/attention_places.h"
#include "study/probe_subject.h"

namespace attnlab {

enum class Ablation {
  zero,      // nothing
  mean,      // what it gives on average over the reference sentences
  resample,  // what it gives for another token, drawn at random from them
  uniform,   // attention alone: all visible keys weigh the same
};

// One rule: which heads ("encoder.layers.0.self_attention.heads.3") or sublayers ("decoder.layers.2.mlp",
// "decoder.layers.2.cross_attention"), by a pattern with * and ?, and what stands in their place.
struct Intervention {
  std::string pattern;
  Ablation how = Ablation::zero;
};

// From "PATTERN=zero|mean|resample|uniform". Throws ConfigError.
Intervention parse_intervention(const std::string& text);

// Every name that a pattern may match: sublayers, then heads.
std::vector<std::string> intervention_names(const Transformer& model);

// Whether the rule's pattern matches any of them.
bool matches(const Intervention& rule, const Transformer& model);

// In force while it lives, in decoding and scoring too. Of rules for the same part the last one holds.
class Interventions final : public ModelObserver {
 public:
  // `reference` gives the means and the rows to draw from. Throws ConfigError: a pattern that matches
  // nothing, uniform for what is no attention or for a kind that zero queries do not make uniform.
  Interventions(ProbeSubject& reference, const std::vector<Intervention>& rules);

 protected:
  Var look(const std::string& module, std::string_view what, const Var& value) override;
  void begin_again() override { calls_.clear(); }

 private:
  // Part `first` of `count` equal parts of the columns that a module gives is replaced.
  struct Cut {
    std::string what;  // "query", "heads", "sublayer"
    Index first = 0, count = 0;
    Ablation how = Ablation::zero;
    Tensor pool;  // rows of that part in f64: all of the reference, or its mean as one row
    std::uint64_t stream = 0;
  };
  void put(const std::string& name, const std::string& module, std::string what, Index part, Index parts,
           Ablation how);
  void plan(const Transformer& model, const Intervention& rule);
  void gather(ProbeSubject& reference);
  void require_uniform(ProbeSubject& reference);
  void fill(const Cut& cut, Index rows, Index columns, std::vector<double>& instead);

  std::map<std::string, std::vector<Cut>> cuts_;  // by module
  std::map<std::uint64_t, std::uint64_t> calls_;  // by stream: another draw each time of a pass
  std::uint64_t seed_;
  bool ready_ = false;
};

}  // namespace attnlab
