#include "study/activations.h"

namespace attnlab {
namespace {

std::string key_of(const std::string& module, std::string_view what) {
  return module + "/" + std::string(what);
}

}  // namespace

void restart(const Transformer& model) {
  if (auto* const observer = dynamic_cast<ModelObserver*>(model.observer())) observer->restart();
}

Var Recorder::look(const std::string& module, std::string_view what, const Var& value) {
  if (wanted_(module, what)) seen_[key_of(module, what)] = value;
  return value;
}

const Var* Recorder::find(const std::string& module, std::string_view what) const {
  const auto found = seen_.find(key_of(module, what));
  return found == seen_.end() ? nullptr : &found->second;
}

const Tensor& Recorder::at(const std::string& module, std::string_view what) const {
  const Var* var = find(module, what);
  check(var != nullptr, "nothing was seen of '", what, "' of ", module);
  return var->value();
}

}  // namespace attnlab
