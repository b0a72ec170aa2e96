// Stochastic gradient descent with momentum, in PyTorch's form: b ← μ b + g, w ← w - λ b (Nesterov: g + μ b).
#include "config/fields.h"
#include "config/registry.h"
#include "train/optimizer.h"

namespace attnlab {
namespace {

struct SgdSpec : OptimizerSpec {
  double momentum = 0, decay = 0;
  bool nesterov = false, decay_all = false;
  void fields(Fields& f) override;
  std::unique_ptr<Optimizer> make(ParameterSet& parameters) const override;
};

const Registered<OptimizerSpec, SgdSpec> registered{"sgd", "gradient descent with momentum"};

std::vector<std::string> moments_of(const SgdSpec& spec) {
  return spec.momentum > 0 ? std::vector<std::string>{"momentum"} : std::vector<std::string>{};
}

class Sgd final : public Optimizer {
 public:
  Sgd(ParameterSet& parameters, const SgdSpec& spec)
      : Optimizer(parameters, spec.decay_all, moments_of(spec)), spec_(spec) {}

 private:
  void prepare(double learning_rate, double gradient_scale) override {
    learning_rate_ = learning_rate;
    gradient_scale_ = gradient_scale;
  }

  void update(const Piece& piece) override {
    parameters_.master_type() == DType::f64 ? run<double>(piece) : run<float>(piece);
  }

  template <class T>
  void run(const Piece& piece) const {
    const T scale = static_cast<T>(gradient_scale_), rate = static_cast<T>(learning_rate_);
    const T momentum = static_cast<T>(spec_.momentum), decay = static_cast<T>(piece.decays ? spec_.decay : 0);
    const T* gradients = parameters_.gradients().template data<T>();
    T* values = parameters_.values().template data<T>();
    T* velocity = moments_.empty() ? nullptr : moments_[0].tensor.template data<T>();
    for (Index i = piece.begin; i < piece.end; ++i) {
      T direction = gradients[i] * scale + decay * values[i];
      if (velocity != nullptr) {
        velocity[i] = momentum * velocity[i] + direction;
        direction = spec_.nesterov ? direction + momentum * velocity[i] : velocity[i];
      }
      values[i] -= rate * direction;
    }
  }

  SgdSpec spec_;
  double learning_rate_ = 0, gradient_scale_ = 1;
};

void SgdSpec::fields(Fields& f) {
  f("momentum", momentum, between(0, 1, upper_exclusive), "how much of the last direction is kept each step");
  f("nesterov", nesterov, "look ahead along the momentum");
  f("decay", decay, at_least(0), "weight decay, added to the gradient");
  f("decay_all", decay_all, "decay norms, biases and gates too, not matrices alone");
  f.check(!nesterov || momentum > 0, "nesterov", "needs a momentum above 0");
}

std::unique_ptr<Optimizer> SgdSpec::make(ParameterSet& parameters) const {
  return std::make_unique<Sgd>(parameters, *this);
}

}  // namespace
}  // namespace attnlab
