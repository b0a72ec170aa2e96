// Heads taken out of a model without touching its weights: what they give becomes zero, or what they give on
// average.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "study/attention_places.h"
#include "study/probe_subject.h"

namespace attnlab {

struct HeadId {
  std::size_t place = 0;  // in attention_places()
  Index head = 0;
  auto operator<=>(const HeadId&) const = default;
};

// All heads of these places, in their order.
std::vector<HeadId> all_heads(const std::vector<AttentionPlace>& places);

// What every head gives on average over the subject's sentences: for each place a row of all its heads.
std::vector<Tensor> mean_heads(ProbeSubject& subject, const std::vector<AttentionPlace>& places);

// In force while it lives, in decoding and scoring too.
class HeadMask final : public ModelObserver {
 public:
  // `instead`: of mean_heads(), or nothing for zero.
  HeadMask(Transformer& model, std::vector<AttentionPlace> places, std::vector<Tensor> instead = {});
  // These heads are out from now on, and no others.
  void remove(const std::vector<HeadId>& heads);

 protected:
  Var look(const std::string& module, std::string_view what, const Var& value) override;

 private:
  struct Gates {
    std::vector<double> values;
    bool all_open = true;
  };
  std::vector<AttentionPlace> places_;
  std::vector<Tensor> instead_;
  std::vector<Gates> gates_;
  std::map<std::string, std::size_t> by_path_;
};

}  // namespace attnlab
