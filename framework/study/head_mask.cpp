#include "study/head_mask.h"

#include "ops/elementwise.h"
#include "ops/gate_heads.h"

namespace attnlab {

std::vector<HeadId> all_heads(const std::vector<AttentionPlace>& places) {
  std::vector<HeadId> heads;
  for (std::size_t i = 0; i < places.size(); ++i)
    for (Index h = 0; h < places[i].heads(); ++h) heads.push_back({i, h});
  return heads;
}

std::vector<Tensor> mean_heads(ProbeSubject& subject, const std::vector<AttentionPlace>& places) {
  std::vector<std::vector<double>> sums(places.size());
  std::vector<double> rows(places.size());
  Recorder seen(subject.model, [](const std::string&, std::string_view what) { return what == "heads"; });
  for_each_batch(subject, [&](const ModelInput& input, Index) {
    Tape tape({.training = false});
    subject.model.hidden(tape, input);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Tensor& value = seen.at(places[i].path(), "heads");
      const auto all = value.to_doubles();
      const auto columns = static_cast<std::size_t>(value.columns());
      sums[i].resize(columns);
      for (std::size_t j = 0; j < all.size(); ++j) sums[i][j % columns] += all[j];
      rows[i] += static_cast<double>(value.rows());
    }
  });
  std::vector<Tensor> means;
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (double& sum : sums[i]) sum /= std::max(rows[i], 1.0);
    means.push_back(
        Tensor::from({1, static_cast<Index>(sums[i].size())}, subject.parameters.type(), sums[i]));
  }
  return means;
}

HeadMask::HeadMask(Transformer& model, std::vector<AttentionPlace> places, std::vector<Tensor> instead)
    : ModelObserver(model), places_(std::move(places)), instead_(std::move(instead)) {
  for (std::size_t i = 0; i < places_.size(); ++i) by_path_[places_[i].path()] = i;
  remove({});
}

void HeadMask::remove(const std::vector<HeadId>& heads) {
  gates_.clear();
  for (const AttentionPlace& place : places_)
    gates_.push_back({std::vector<double>(static_cast<std::size_t>(place.heads()), 1.0), true});
  for (const HeadId& head : heads) {
    gates_[head.place].values[static_cast<std::size_t>(head.head)] = 0;
    gates_[head.place].all_open = false;
  }
}

Var HeadMask::look(const std::string& module, std::string_view what, const Var& value) {
  const auto found = what == "heads" ? by_path_.find(module) : by_path_.end();
  if (found == by_path_.end() || gates_[found->second].all_open) return value;
  const Gates& gates = gates_[found->second];
  Tape& tape = value.tape();
  const Index H = places_[found->second].heads();
  const Var kept = gate_heads(value, tape.constant(Tensor::from({H}, value.type(), gates.values)));
  if (instead_.empty()) return kept;
  std::vector<double> shut;
  for (const double gate : gates.values) shut.push_back(1 - gate);
  const Var mean = tape.constant(instead_[found->second]);
  return add(kept, gate_heads(mean, tape.constant(Tensor::from({H}, value.type(), shut))));
}

}  // namespace attnlab
