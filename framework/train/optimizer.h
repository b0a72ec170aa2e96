// Optimisers: one pass over the trainable part of the parameter arena, which reads gradients (scaled, for
// clipping), moves masters and moments, and writes the bf16 working copies. Kinds register themselves, one
// file each.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/parameter.h"
#include "train/safetensors.h"

namespace attnlab {

class Fields;

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // One update with this rate; every gradient counts `gradient_scale` times. Same bits at any thread count.
  void step(double learning_rate, double gradient_scale = 1);
  // The same with a rate for each group of parameters.
  void step(const std::vector<double>& learning_rates, double gradient_scale);
  // Divides the parameters into groups, 0 … count - 1; before that all are of group 0.
  void regroup(const std::function<std::size_t(const Parameter&)>& group_of, std::size_t count);
  Index updates() const { return updates_; }               // made so far
  void set_updates(Index updates) { updates_ = updates; }  // when a checkpoint is loaded
  // What a checkpoint must hold besides the count: "MOMENT/PARAMETER" of every trainable parameter, as live
  // views.
  std::vector<NamedTensor> state() const;

 protected:
  // Elements [begin, end) of the arena.
  struct Piece {
    Index begin = 0, end = 0;
    bool decays = false;
  };
  // Makes one arena of zeros a moment. Decay is on where a parameter asks for it (matrices), or everywhere.
  Optimizer(ParameterSet& parameters, bool decay_all, const std::vector<std::string>& moments);
  virtual void prepare(double learning_rate, double gradient_scale) = 0;  // once a step and group
  virtual void update(const Piece& piece) = 0;                            // called from several threads
  virtual bool writes_working_copy() const { return false; }  // does update() do so, or is it left to step()?

  ParameterSet& parameters_;
  std::vector<NamedTensor> moments_;
  Index updates_ = 0;

 private:
  bool decay_all_;
  std::vector<std::vector<Piece>> groups_;
};

// Describes one kind of optimiser; `train.optimizer` in YAML.
struct OptimizerSpec {
  static constexpr const char* kRegistry = "optimizer";
  virtual ~OptimizerSpec() = default;
  virtual void fields(Fields& f) = 0;
  // The parameters must be laid out. Keeps a reference to them.
  virtual std::unique_ptr<Optimizer> make(ParameterSet& parameters) const = 0;
};

}  // namespace attnlab
