#include "train/adamw.h"

#include <cmath>

#include "config/fields.h"
#include "config/registry.h"
#include "kernels/vectorise.h"

namespace attnlab {
namespace {

// Without the library's errno, so that loops over it vectorise.
[[gnu::always_inline]] inline float root(float x) { return __builtin_sqrtf(x); }
[[gnu::always_inline]] inline double root(double x) { return __builtin_sqrt(x); }

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

  void update(const Piece& piece) override {
    parameters_.master_type() == DType::f64 ? run<double>(piece) : run<float>(piece);
  }

  template <class T>
  void run(const Piece& piece) const {
    const T scale(static_cast<T>(gradient_scale_)), step_size(static_cast<T>(step_size_));
    const T keep1 = static_cast<T>(1 - spec_.beta1), beta2 = static_cast<T>(spec_.beta2);
    const T keep2 = static_cast<T>(1 - spec_.beta2), second_scale = static_cast<T>(second_scale_);
    const T epsilon = static_cast<T>(spec_.epsilon);
    const T shrink = static_cast<T>(piece.decays ? 1 - learning_rate_ * spec_.decay : 1);
    const T* gradients = parameters_.gradients().template data<T>();
    T* values = parameters_.values().template data<T>();
    T* first = moments_[0].tensor.template data<T>();
    T* second = moments_[1].tensor.template data<T>();
    kernels::vectorised(
        piece.begin, piece.end, [
          scale, step_size, keep1, beta2, keep2, second_scale, epsilon, shrink, gradients, values, first,
          second
        ](Index begin, Index end) __attribute__((always_inline)) {
          for (Index i = begin; i < end; ++i) {
            const T gradient = gradients[i] * scale;
            const T mean = first[i] + (gradient - first[i]) * keep1;
            const T square = second[i] * beta2 + keep2 * gradient * gradient;
            first[i] = mean;
            second[i] = square;
            values[i] = values[i] * shrink - step_size * mean / (root(square) * second_scale + epsilon);
          }
        });
  }

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
