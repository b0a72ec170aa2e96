#include "core/parameter.h"

#include <algorithm>

#include "core/parallel.h"

namespace attnlab {
namespace {

constexpr Index kAlignment = 16;       // elements; 64 bytes of f32
constexpr Index kFillPiece = 1 << 13;  // initial values are made in pieces of this size

}  // namespace

Target Parameter::take_gradient_target() {
  const bool add = written_;
  written_ = true;
  return {gradient_, add};
}

Parameter& ParameterSet::add(const std::string& name, const Shape& shape, Fill fill, bool decays) {
  check(!finalised(), "parameter ", name, " declared after the memory was laid out");
  check(find(name) == nullptr, "two parameters are named ", name);
  auto parameter = std::make_unique<Parameter>();
  parameter->name_ = name;
  parameter->shape_ = shape;
  parameter->fill_ = std::move(fill);
  parameter->decays_ = decays;
  parameter->group_ = group_;
  parameters_.push_back(std::move(parameter));
  return *parameters_.back();
}

Parameter& ParameterSet::add_buffer(const std::string& name, const Shape& shape, Fill fill) {
  Parameter& parameter = add(name, shape, std::move(fill), false);
  parameter.buffer_ = true;
  return parameter;
}

void ParameterSet::begin_group() { group_ = groups_++; }
void ParameterSet::end_group() { group_ = -1; }

void ParameterSet::finalise(DType type, std::uint64_t seed,
                            const std::function<bool(const Parameter&)>& trainable, InitialValues values) {
  check(!finalised(), "parameters laid out twice");
  type_ = type;
  seed_ = seed;
  for (auto& parameter : parameters_) parameter->trainable_ = trainable(*parameter);
  Index size = 0, trainable_size = 0;
  for (const bool trains : {true, false}) {
    Index last_group = -1;
    for (auto& parameter : parameters_) {
      if (parameter->trainable_ != trains) continue;
      const bool neighbour = parameter->group_ >= 0 && parameter->group_ == last_group;
      if (!neighbour) size = (size + kAlignment - 1) / kAlignment * kAlignment;
      parameter->arena_offset_ = size;
      size += parameter->shape_.count();
      last_group = parameter->group_;
    }
    if (trains) trainable_size = size = (size + kAlignment - 1) / kAlignment * kAlignment;
  }
  values_ = Tensor::zeros({std::max<Index>(size, 1)}, master_type());
  gradients_ = Tensor::zeros({trainable_size}, master_type());
  if (type == DType::bf16) working_ = Tensor::zeros({std::max<Index>(size, 1)}, type);
  const auto slice = [](const Tensor& arena, const Parameter& p) {
    auto* start = static_cast<std::byte*>(arena.raw()) + p.arena_offset_ * size_of(arena.type());
    const Tensor whole = arena;
    return Tensor::over(std::shared_ptr<std::byte>(std::make_shared<Tensor>(whole), start), start, p.shape_,
                        arena.type());
  };
  for (auto& parameter : parameters_) {
    parameter->value_ = slice(values_, *parameter);
    parameter->compute_ = working_ ? slice(working_, *parameter) : parameter->value_;
    if (parameter->trainable_) parameter->gradient_ = slice(gradients_, *parameter);
  }
  if (values == InitialValues::drawn) draw([](const Parameter&) { return true; });
}

void ParameterSet::draw(const std::function<bool(const Parameter&)>& wanted) {
  for (const auto& parameter : parameters_)
    if (wanted(*parameter)) fill_values(*parameter);
  refresh_compute();
}

void ParameterSet::fill_values(const Parameter& parameter) {
  const Random random(seed_, stream_name(parameter.name_));
  const Index count = parameter.shape_.count();
  dispatch(master_type(), [&](auto zero) {
    using T = decltype(zero);
    T* values = static_cast<T*>(parameter.value_.raw());
    parallel_for((count + kFillPiece - 1) / kFillPiece, 1, [&](Index begin, Index end) {
      std::vector<double> piece;
      for (Index first = begin * kFillPiece; first < std::min(count, end * kFillPiece); first += kFillPiece) {
        piece.assign(static_cast<std::size_t>(std::min(kFillPiece, count - first)), 0.0);
        parameter.fill_(piece, first, random);
        for (std::size_t i = 0; i < piece.size(); ++i)
          values[first + static_cast<Index>(i)] = static_cast<T>(piece[i]);
      }
    });
  });
}

void ParameterSet::begin_window() {
  for (auto& parameter : parameters_) parameter->written_ = false;
}

void ParameterSet::finish_window() {
  for (auto& parameter : parameters_)
    if (parameter->trainable_ && !parameter->written_) parameter->gradient_.fill(0);
}

void ParameterSet::refresh_compute() {
  if (working_) working_.copy_from(values_);
}

Parameter* ParameterSet::find(const std::string& name) const {
  for (const auto& parameter : parameters_)
    if (parameter->name_ == name) return parameter.get();
  return nullptr;
}

Index ParameterSet::count(bool trainable_only) const {
  Index sum = 0;
  for (const auto& parameter : parameters_)
    if (parameter->trainable_ || !trainable_only) sum += parameter->shape_.count();
  return sum;
}

Tensor stacked(const std::vector<const Tensor*>& neighbours) {
  if (neighbours.empty() || !*neighbours.front()) return {};
  const Tensor& first = *neighbours.front();
  Index rows = 0;
  for (const Tensor* part : neighbours) {
    const auto* expected =
        static_cast<std::byte*>(first.raw()) + rows * first.columns() * size_of(first.type());
    if (part->raw() != expected || part->columns() != first.columns() || part->type() != first.type())
      return {};
    rows += part->rows();
  }
  const Shape shape =
      first.shape().rank() == 1 ? Shape{rows * first.columns()} : Shape{rows, first.columns()};
  return Tensor::over(
      std::shared_ptr<std::byte>(std::make_shared<Tensor>(first), static_cast<std::byte*>(first.raw())),
      first.raw(), shape, first.type());
}

}  // namespace attnlab
