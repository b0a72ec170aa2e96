// Looking into a model while it works: observers that stand in a row, and one that remembers what it saw.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "models/transformer.h"

namespace attnlab {

// Watches a model while it lives, behind the observer that the model has already.
class ModelObserver : public Observer {
 public:
  explicit ModelObserver(Transformer& model) : model_(model), before_(model.observer()) {
    model.set_observer(this);
  }
  ~ModelObserver() override { model_.set_observer(before_); }
  ModelObserver(const ModelObserver&) = delete;
  ModelObserver& operator=(const ModelObserver&) = delete;
  Var see(const std::string& module, std::string_view what, const Var& value) final {
    return look(module, what, before_ == nullptr ? value : before_->see(module, what, value));
  }
  // Another pass over the same examples begins, for the observers in front as well: whoever draws draws the
  // same again.
  void restart() {
    begin_again();
    if (auto* const before = dynamic_cast<ModelObserver*>(before_)) before->restart();
  }

 protected:
  virtual void begin_again() {}
  virtual Var look(const std::string& module, std::string_view what, const Var& value) = 0;

 private:
  Transformer& model_;
  Observer* before_;
};

// restart() of the observers that the model has.
void restart(const Transformer& model);

// Keeps the latest value of everything that `wanted` asks for.
class Recorder final : public ModelObserver {
 public:
  using Wanted = std::function<bool(const std::string& module, std::string_view what)>;
  Recorder(Transformer& model, Wanted wanted) : ModelObserver(model), wanted_(std::move(wanted)) {}

  const Var* find(const std::string& module, std::string_view what) const;  // nullptr if it was not seen
  // The value. Throws ShapeError if it was not seen.
  const Tensor& at(const std::string& module, std::string_view what) const;
  void clear() { seen_.clear(); }

 protected:
  Var look(const std::string& module, std::string_view what, const Var& value) override;

 private:
  Wanted wanted_;
  std::map<std::string, Var, std::less<>> seen_;
};

}  // namespace attnlab
