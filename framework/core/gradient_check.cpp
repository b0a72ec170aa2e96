#include "core/gradient_check.h"

#include <cmath>

namespace attnlab {
namespace {

struct Leaf {
  std::string name;
  Tensor value, gradient;
};

const Op kProjection{"projection"}, kSum{"sum of two"};

// The sum of the elements times fixed random numbers: a scalar that every output element moves.
Var projection(const Var& y) {
  const Random random(17, stream_name("gradient check"));
  const Tensor weights(y.shape(), DType::f64);
  Tensor sum = Tensor::zeros({1}, DType::f64);
  const Tensor values = y.value().clone();
  for (Index i = 0; i < y.value().count(); ++i) {
    weights.data<double>()[i] = random.normal(static_cast<std::uint64_t>(i));
    sum.data<double>()[0] += weights.data<double>()[i] * values.data<double>()[i];
  }
  return record(kProjection, {y}, sum, [weights](Gradients& g) {
    Tensor dy = weights.clone();
    for (Index i = 0; i < dy.count(); ++i) dy.data<double>()[i] *= g.out().data<double>()[0];
    g.give(0, dy);
  });
}

TapeOptions options_of(const GradientCheck& check, bool record) {
  TapeOptions options;
  options.training = check.training;
  options.record = record;
  options.checking = record;
  options.seed = 5;
  return options;
}

// f(x), or f(x) + f(x) with x shared by both calls.
Var evaluate(const GradientCheck& check, Tape& tape, const std::vector<Var>& inputs, bool shared) {
  const Var once = projection(check.function(tape, inputs));
  if (!shared) return once;
  const Var twice = projection(check.function(tape, inputs));
  const Tensor sum = once.value().clone();
  accumulate(twice.value(), sum);
  return record(kSum, {once, twice}, sum, [](Gradients& g) {
    if (g.wants(0)) g.give(0, g.out());
    if (g.wants(1)) g.give(1, g.out());
  });
}

double value_at(const GradientCheck& check, bool shared) {
  Tape tape(options_of(check, false));
  std::vector<Var> inputs;
  for (const Tensor& input : check.inputs) inputs.push_back(tape.constant(input));
  return evaluate(check, tape, inputs, shared).value().data<double>()[0];
}

std::vector<Leaf> analytic(const GradientCheck& check, bool shared) {
  Tape tape(options_of(check, true));
  if (check.parameters) check.parameters->begin_window();
  std::vector<Var> inputs;
  for (const Tensor& input : check.inputs) inputs.push_back(tape.variable(input));
  tape.backward(evaluate(check, tape, inputs, shared));
  if (check.parameters) check.parameters->finish_window();
  std::vector<Leaf> leaves;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& gradient = tape.gradient(inputs[i]);
    leaves.push_back({"input " + std::to_string(i), check.inputs[i],
                      gradient ? gradient.clone() : Tensor::zeros(check.inputs[i].shape(), DType::f64)});
  }
  if (check.parameters)
    for (const auto& parameter : check.parameters->all())
      if (parameter->trainable())
        leaves.push_back({parameter->name(), parameter->value(), parameter->gradient().clone()});
  return leaves;
}

void compare(const GradientCheck& check, bool shared, GradientReport& report) {
  for (const Leaf& leaf : analytic(check, shared)) {
    attnlab::check(leaf.value.type() == DType::f64, "gradient check of ", leaf.name, ": f64 values expected");
    const Index count = leaf.value.count(), picked = std::min(count, check.elements);
    const double* analytic_derivatives = leaf.gradient.data<double>();
    std::vector<double> numeric_derivatives;
    double largest = 0;
    for (Index k = 0; k < picked; ++k) {
      double& element = leaf.value.data<double>()[k * count / picked];
      const double kept = element;
      element = kept + check.step;
      const double above = value_at(check, shared);
      element = kept - check.step;
      const double below = value_at(check, shared);
      element = kept;
      numeric_derivatives.push_back((above - below) / (2 * check.step));
      largest = std::max(largest, std::abs(numeric_derivatives.back()));
    }
    for (Index k = 0; k < picked; ++k) {
      const Index i = k * count / picked;
      const double numeric = numeric_derivatives[static_cast<std::size_t>(k)];
      double error = std::abs(numeric - analytic_derivatives[i]) / (largest + 1e-3);
      if (std::isnan(error)) error = HUGE_VAL;
      if (error > report.worst)
        report = {error,
                  leaf.name + ", element " + std::to_string(i) + (shared ? " (with two consumers)" : ""),
                  numeric, analytic_derivatives[i]};
    }
  }
}

}  // namespace

GradientReport check_gradients(const GradientCheck& check) {
  GradientReport report;
  for (const bool shared : {false, true}) compare(check, shared, report);
  return report;
}

}  // namespace attnlab
