#include "train/adamw.h"

#include <cmath>

#include "config/fields.h"
#include "config/registry.h"
#include "kernels/row_loops.h"

namespace attnlab {
namespace {

const Registered<OptimizerSpec, AdamWSpec> registered{"adamw", "Adam with decoupled weight decay"};

class AdamW final : public Optimizer {
 public:
  AdamW(ParameterSet& parameters, const AdamWSpec& spec)
      : Optimizer(parameters, spec.decay_all, {"first_moment", "second_moment"}), spec_(spec) {}

 private:
  void prepare(double learning_rate, double gradient_scale) override {
    learning_rate_ = learning_rate;
    gradient_scale_ = gradient_scale;
    const auto t = static_cast<double>(updates_);
    step_size_ = learning_rate / (1 - std::pow(spec_.beta1, t));
    second_scale_ = 1 / std::sqrt(1 - std::pow(spec_.beta2, t));
  }

  bool writes_working_copy() const override { return true; }

  void update(const Piece& piece) override {
    const DType type = parameters_.type();
    if (type == DType::f64) return run(piece);
    const double shrink = shrink_of(piece);
    const auto narrow = [](double x) { return static_cast<float>(x); };
    const kernels::AdamWStep step{narrow(gradient_scale_), narrow(step_size_),      narrow(1 - spec_.beta1),
                                  narrow(spec_.beta2),     narrow(1 - spec_.beta2), narrow(second_scale_),
                                  narrow(spec_.epsilon),   narrow(shrink)};
    const auto at = [&piece](const Tensor& arena) { return arena.data<float>() + piece.begin; };
    const auto run_with = [&](auto* copy, bool bypass) {
      kernels::row_loops<std::remove_pointer_t<decltype(copy)>>().adamw(
          step, piece.end - piece.begin, at(parameters_.gradients()), at(parameters_.values()),
          at(moments_[0].tensor), at(moments_[1].tensor), copy, bypass);
    };
    constexpr Index kCached = Index{1}
                              << 24;  // so many bf16 the next forward pass may still find in the cache
    if (type == DType::bf16)
      run_with(parameters_.working().data<bfloat16>() + piece.begin, parameters_.values().count() > kCached);
    else
      run_with(static_cast<float*>(nullptr), false);
  }

  // The same in f64, for checks.
  void run(const Piece& piece) const {
    const double* gradients = parameters_.gradients().data<double>();
    double* values = parameters_.values().data<double>();
    double* first = moments_[0].tensor.data<double>();
    double* second = moments_[1].tensor.data<double>();
    for (Index i = piece.begin; i < piece.end; ++i) {
      const double gradient = gradients[i] * gradient_scale_;
      first[i] += (gradient - first[i]) * (1 - spec_.beta1);
      second[i] = second[i] * spec_.beta2 + (1 - spec_.beta2) * gradient * gradient;
      values[i] = values[i] * shrink_of(piece) -
                  step_size_ * first[i] / (std::sqrt(second[i]) * second_scale_ + spec_.epsilon);
    }
  }

  double shrink_of(const Piece& piece) const { return piece.decays ? 1 - learning_rate_ * spec_.decay : 1; }

  AdamWSpec spec_;
  double learning_rate_ = 0, gradient_scale_ = 1, step_size_ = 0, second_scale_ = 1;
};

}  // namespace

void AdamWSpec::fields(Fields& f) {
  f("beta1", beta1, between(0, 1, upper_exclusive), "how much of the mean gradient is kept each step");
  f("beta2", beta2, between(0, 1, upper_exclusive),
    "how much of the mean squared gradient is kept each step");
  f("epsilon", epsilon, above(0), "added to the root of the mean squared gradient");
  f("decay", decay, at_least(0), "weight decay, multiplied by the learning rate");
  f("decay_all", decay_all, "decay norms, biases and gates too, not matrices alone");
}

std::unique_ptr<Optimizer> AdamWSpec::make(ParameterSet& parameters) const {
  return std::make_unique<AdamW>(parameters, *this);
}

}  // namespace attnlab
