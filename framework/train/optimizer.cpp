#include "train/optimizer.h"

#include <algorithm>

#include "core/parallel.h"
#include "kernels/row_loops.h"

namespace attnlab {
namespace {

constexpr Index kPieceElements = 1 << 14;

Tensor slice(const Tensor& arena, Index offset, const Shape& shape) {
  auto* start = static_cast<std::byte*>(arena.raw()) + offset * size_of(arena.type());
  return Tensor::over(std::shared_ptr<std::byte>(std::make_shared<Tensor>(arena), start), start, shape,
                      arena.type());
}

void write_working_copy(const ParameterSet& parameters, Index begin, Index end) {
  kernels::row_loops<bfloat16>().round(parameters.values().data<float>() + begin, end - begin,
                                       parameters.working().data<bfloat16>() + begin);
}

}  // namespace

Optimizer::Optimizer(ParameterSet& parameters, bool decay_all, const std::vector<std::string>& moments)
    : parameters_(parameters), decay_all_(decay_all) {
  check(parameters.finalised(), "an optimiser needs parameters that are laid out");
  for (const auto& name : moments)
    moments_.push_back({name, Tensor::zeros(parameters.gradients().shape(), parameters.master_type())});
  regroup([](const Parameter&) { return std::size_t{0}; }, 1);
}

void Optimizer::regroup(const std::function<std::size_t(const Parameter&)>& group_of, std::size_t count) {
  groups_.assign(count, {});
  for (const auto& parameter : parameters_.all()) {
    if (!parameter->trainable()) continue;
    std::vector<Piece>& pieces = groups_.at(group_of(*parameter));
    const Index first = parameters_.offset(*parameter), last = first + parameter->shape().count();
    for (Index begin = first; begin < last; begin += kPieceElements)
      pieces.push_back({begin, std::min(last, begin + kPieceElements), decay_all_ || parameter->decays()});
  }
}

void Optimizer::step(double learning_rate, double gradient_scale) {
  step(std::vector<double>(groups_.size(), learning_rate), gradient_scale);
}

void Optimizer::step(const std::vector<double>& learning_rates, double gradient_scale) {
  check(learning_rates.size() == groups_.size(), "an optimiser with ", groups_.size(), " groups got ",
        learning_rates.size(), " rates");
  ++updates_;
  const bool copied = parameters_.type() == DType::bf16 && !writes_working_copy();
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    const std::vector<Piece>& pieces = groups_[group];
    prepare(learning_rates[group], gradient_scale);
    parallel_items(static_cast<Index>(pieces.size()), [this, copied, &pieces](Index i) {
      const Piece& piece = pieces[static_cast<std::size_t>(i)];
      update(piece);
      if (copied) write_working_copy(parameters_, piece.begin, piece.end);
    });
  }
}

std::vector<NamedTensor> Optimizer::state() const {
  std::vector<NamedTensor> result;
  for (const auto& [moment, arena] : moments_)
    for (const auto& parameter : parameters_.all())
      if (parameter->trainable())
        result.push_back({moment + "/" + parameter->name(),
                          slice(arena, parameters_.offset(*parameter), parameter->shape())});
  return result;
}

}  // namespace attnlab
