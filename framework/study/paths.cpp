#include "study/paths.h"

#include <numeric>
#include <set>

#include "ops/dense.h"
#include "ops/gate_heads.h"
#include "ops/pad.h"

namespace attnlab {
namespace {

// Sends a forward pass along a path.
class PathObserver final : public ModelObserver {
 public:
  PathObserver(Transformer& model, const Path& path, const Sequences& sequences,
               const std::map<std::string, Tensor>& maps)
      : ModelObserver(model), path_(path), sequences_(sequences), maps_(maps) {
    const Stack& stack = only_stack(model);
    stack_ = stack.path();
    for (std::size_t i = 0; i < stack.layers().size(); ++i) {
      layers_[stack.layers()[i].path()] = i;
      attentions_[stack.layers()[i].self_attention().path()] = {i,
                                                                stack.layers()[i].self_attention().shape().H};
    }
  }
  const Tensor& output() const { return current_.value(); }

 protected:
  Var look(const std::string& module, std::string_view what, const Var& value) override {
    if (what == "input" && module == stack_) current_ = value;
    const auto attention = attentions_.find(module);
    if (attention != attentions_.end()) return in_attention(attention->second, module, what, value);
    const auto layer = what == "output" ? layers_.find(module) : layers_.end();
    if (layer == layers_.end()) return value;
    if (path_[layer->second] >= 0) current_ = value;
    return current_;
  }

 private:
  struct Place {
    std::size_t layer = 0;
    Index heads = 0;
  };

  Var in_attention(const Place& place, const std::string& module, std::string_view what, const Var& value) {
    const Index head = path_[place.layer];
    if (what == "value") values_ = value;
    if (head < 0) return value;
    Tape& tape = value.tape();
    if (what == "residual") return tape.constant(Tensor::zeros(value.shape(), value.type()));
    if (what != "heads") return value;
    std::vector<double> gates(static_cast<std::size_t>(place.heads));
    gates[static_cast<std::size_t>(head)] = 1;
    return gate_heads(looked_at(module, place.heads, value),
                      tape.constant(Tensor::from({place.heads}, value.type(), gates)));
  }

  // The heads' rows, where they look along the path or in the whole network.
  Var looked_at(const std::string& module, Index heads, const Var& value) const {
    const auto map = maps_.find(module);
    if (map == maps_.end()) return value;
    const Var weights = value.tape().constant(map->second);
    return unpad(batched_matmul(weights, pad(values_, sequences_, heads)), sequences_);
  }

  const Path& path_;
  const Sequences& sequences_;
  const std::map<std::string, Tensor>& maps_;
  std::string stack_;
  std::map<std::string, std::size_t> layers_;
  std::map<std::string, Place> attentions_;
  Var current_, values_;  // what goes into the next layer; the values of the attention at work
};

double count_of(const std::vector<Index>& heads, Index length) {  // elementary symmetric polynomial
  std::vector<double> ways(static_cast<std::size_t>(length) + 1);
  ways[0] = 1;
  for (const Index H : heads)
    for (std::size_t k = ways.size() - 1; k >= 1; --k) ways[k] += ways[k - 1] * static_cast<double>(H);
  return ways.back();
}

void add_all(const std::vector<Index>& heads, Index length, Path& start, std::vector<Path>& paths) {
  const auto layer = start.size();
  if (layer == heads.size()) {
    if (length == 0) paths.push_back(start);
    return;
  }
  for (Index head = -1; head < (length > 0 ? heads[layer] : 0); ++head) {
    start.push_back(head);
    add_all(heads, length - (head < 0 ? 0 : 1), start, paths);
    start.pop_back();
  }
}

}  // namespace

std::vector<Path> paths_of_length(const std::vector<Index>& heads, Index length, Index count,
                                  std::uint64_t seed) {
  if (count_of(heads, length) <= static_cast<double>(count)) {
    std::vector<Path> all;
    Path start;
    add_all(heads, length, start, all);
    return all;
  }
  std::vector<std::size_t> usable;
  for (std::size_t i = 0; i < heads.size(); ++i)
    if (heads[i] > 0) usable.push_back(i);
  std::set<Path> drawn;
  std::vector<Path> paths;
  for (std::uint64_t trial = 0; static_cast<Index>(paths.size()) < count; ++trial) {
    const Random layers(seed, stream_name("paths.layers"), trial),
        head(seed, stream_name("paths.heads"), trial);
    Path path(heads.size(), -1);
    const auto order = layers.permutation(static_cast<Index>(usable.size()));
    for (Index i = 0; i < length; ++i) {
      const std::size_t layer = usable[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])];
      path[layer] = static_cast<Index>(
          head.below(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(heads[layer])));
    }
    if (drawn.insert(path).second) paths.push_back(path);
  }
  return paths;
}

const Stack& only_stack(const Transformer& model) {
  return model.encoder() != nullptr ? *model.encoder() : *model.decoder();
}

PathRunner::PathRunner(ProbeSubject& subject, const ModelInput& input, PathAttention attention)
    : subject_(subject), input_(input) {
  if (attention == PathAttention::own) return;
  Recorder seen(subject.model, wants_attention);
  Tape tape({.training = false});
  subject.model.hidden(tape, input);
  for (const AttentionPlace& place : attention_places(subject.model))
    maps_[place.path()] = attention_map(place, seen, mask_at(place, subject.model.spec(), input));
}

Tensor PathRunner::output(const Path& path) const {
  const Sequences& rows = rows_read(subject_.model.spec(), subject_.model.encoder() == nullptr, input_);
  PathObserver observer(subject_.model, path, rows, maps_);
  Tape tape({.training = false});
  subject_.model.hidden(tape, input_);
  return observer.output();
}

}  // namespace attnlab
