#include "core/tape.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/profile.h"

namespace attnlab {
namespace {

std::vector<const Op*>& op_table() {
  static std::vector<const Op*> table;
  return table;
}

bool all_finite(const Tensor& tensor) {
  return dispatch(tensor.type(), [&](auto zero) {
    const auto* data = tensor.data<decltype(zero)>();
    for (Index i = 0; i < tensor.rows(); ++i)
      for (Index j = 0; j < tensor.columns(); ++j)
        if (!std::isfinite(static_cast<double>(data[i * tensor.row_stride() + j]))) return false;
    return true;
  });
}

double bytes_of(const Shape& shape, DType type) { return static_cast<double>(shape.count() * size_of(type)); }

void report(const Tape& tape, const Op& op, const std::vector<Var>& inputs, std::span<const Tensor> outputs) {
  Profile* profile = Profile::active();
  if (profile == nullptr) return;
  double read = 0, written = 0;
  for (const Var& input : inputs)
    if (input.value()) read += bytes_of(input.shape(), input.type());
  for (const Tensor& output : outputs)
    if (output) written += bytes_of(output.shape(), output.type());
  profile->op(Phase::forward, op.name(), tape.path(), read, written);
}

}  // namespace

Op::Op(const char* name) : name_(name) { op_table().push_back(this); }
const std::vector<const Op*>& Op::all() { return op_table(); }

bool Gradients::has(int output) const {
  return tape_.slots_[static_cast<std::size_t>(outputs_[static_cast<std::size_t>(output)])].present;
}

const Tensor& Gradients::out(int output) const {
  return tape_.slots_[static_cast<std::size_t>(outputs_[static_cast<std::size_t>(output)])].gradient;
}

Tensor Gradients::take_out(int output) {
  return std::move(
      tape_.slots_[static_cast<std::size_t>(outputs_[static_cast<std::size_t>(output)])].gradient);
}

bool Gradients::wants(int input) const { return inputs_[static_cast<std::size_t>(input)] >= 0; }

Target Gradients::target(int input) {
  check(wants(input), "backward asks for the gradient of an input that wants none");
  const int index = inputs_[static_cast<std::size_t>(input)];
  const Tape::Slot& slot = tape_.slots_[static_cast<std::size_t>(index)];
  for (const int earlier : asked_)
    if (earlier == index || (slot.parameter != nullptr &&
                             tape_.slots_[static_cast<std::size_t>(earlier)].parameter == slot.parameter)) {
      const Tensor apart(slot.shape, slot.parameter ? slot.parameter->gradient().type() : slot.type);
      doubled_.emplace_back(index, apart);
      return {apart, false};
    }
  asked_.push_back(index);
  return tape_.target_of(index);
}

void Gradients::add_doubled() {
  for (const auto& [index, apart] : doubled_) accumulate(apart, tape_.target_of(index).buffer);
}

void Gradients::give(int input, Tensor gradient) {
  check(wants(input), "backward gives a gradient to an input that wants none");
  auto& slot = tape_.slots_[static_cast<std::size_t>(inputs_[static_cast<std::size_t>(input)])];
  check(gradient.shape() == slot.shape, "gradient of shape ", gradient.shape(), " for an input of shape ",
        slot.shape);
  if (!slot.present && slot.parameter == nullptr && slot.parent < 0 && gradient.type() == slot.type) {
    slot.gradient = std::move(gradient);
    slot.present = true;
    return;
  }
  const Target to = target(input);
  if (to.add)
    accumulate(gradient, to.buffer);
  else
    to.buffer.copy_from(gradient);
}

Tensor Gradients::take_input(int input) {
  auto& slot = tape_.slots_[static_cast<std::size_t>(inputs_[static_cast<std::size_t>(input)])];
  if (!slot.present || slot.parameter != nullptr || slot.parent >= 0) return {};
  slot.present = false;
  return std::move(slot.gradient);
}

int Tape::new_slot(const Tensor& value) {
  Slot slot;
  slot.shape = value.shape();
  slot.type = value.type();
  slots_.push_back(std::move(slot));
  return static_cast<int>(slots_.size()) - 1;
}

Var Tape::variable(Tensor value, Tensor gradient) {
  if (!options_.training || !options_.record) return constant(std::move(value));
  const int slot = new_slot(value);
  slots_.back().present = static_cast<bool>(gradient);
  slots_.back().gradient = std::move(gradient);
  return {this, slot, std::move(value)};
}

Var Tape::leaf(Parameter& parameter) {
  met_trainable_ = met_trainable_ || parameter.trainable();
  if (!options_.training || !options_.record || !parameter.trainable()) return constant(parameter.compute());
  const Var var = variable(parameter.compute());
  slots_.back().parameter = &parameter;
  return var;
}

bool Tape::wanted(const std::vector<Var>& inputs) const {
  return std::any_of(inputs.begin(), inputs.end(), [](const Var& input) { return input.wants_gradient(); });
}

void Tape::push(const Op& op, const std::vector<Var>& inputs, std::vector<int> outputs, Backward backward) {
  std::vector<int> input_slots;
  for (const Var& input : inputs) {
    check(input.slot_ < 0 || input.tape_ == this, op.name(), ": an input belongs to another tape");
    input_slots.push_back(input.slot_);
  }
  nodes_.push_back({&op, path_, std::move(input_slots), std::move(outputs), std::move(backward)});
}

Var Tape::record(const Op& op, const std::vector<Var>& inputs, Tensor output, Backward backward) {
  require_finite(output, op, path_, "result");
  report(*this, op, inputs, {&output, 1});
  if (!wanted(inputs)) return constant(std::move(output));
  const int slot = new_slot(output);
  push(op, inputs, {slot}, std::move(backward));
  return {this, slot, std::move(output)};
}

std::vector<Var> Tape::record_outputs(const Op& op, const std::vector<Var>& inputs,
                                      std::vector<Tensor> outputs, Backward backward) {
  const bool recorded = wanted(inputs);
  report(*this, op, inputs, outputs);
  std::vector<Var> result;
  std::vector<int> slots;
  for (Tensor& output : outputs) {
    require_finite(output, op, path_, "result");
    const int slot = recorded ? new_slot(output) : -1;
    slots.push_back(slot);
    result.push_back({this, slot, std::move(output)});
  }
  if (recorded) push(op, inputs, std::move(slots), std::move(backward));
  return result;
}

std::vector<Var> Tape::record_packed(const Op& op, const std::vector<Var>& inputs, const Tensor& packed,
                                     const std::vector<Index>& columns, Backward backward) {
  require_finite(packed, op, path_, "result");
  report(*this, op, inputs, {&packed, 1});
  const bool recorded = wanted(inputs);
  std::vector<int> slots;
  if (recorded) slots.push_back(new_slot(packed));
  std::vector<Var> result;
  Index first = 0;
  for (const Index count : columns) {
    const Tensor view = packed.column_view(first, count);
    int slot = -1;
    if (recorded) {
      slots.push_back(slot = new_slot(view));
      slots_.back().parent = slots.front();
      slots_.back().first_column = first;
    }
    result.push_back({this, slot, view});
    first += count;
  }
  check(first == packed.columns(), op.name(), ": blocks of ", first, " columns in a matrix of ",
        packed.columns());
  if (recorded) push(op, inputs, std::move(slots), std::move(backward));
  return result;
}

Target Tape::target_of(int index) {
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  if (slot.parameter != nullptr) return slot.parameter->take_gradient_target();
  const bool add = slot.present;
  if (slot.parent >= 0) {
    Slot& whole = slots_[static_cast<std::size_t>(slot.parent)];
    if (!whole.gradient) whole.gradient = Tensor(whole.shape, whole.type);
    slot.gradient = whole.gradient.column_view(slot.first_column, slot.shape.columns());
    whole.present = true;
  } else if (!add) {
    slot.gradient = Tensor(slot.shape, slot.type);
  } else if (!slot.gradient.unique()) {
    slot.gradient = slot.gradient.clone();  // an op gave one buffer to two inputs
  }
  slot.present = true;
  return {slot.gradient, add};
}

// Zeroes the column blocks that no consumer contributed to and drops the views.
void Tape::settle_packed(const Node& node) {
  Slot& whole = slots_[static_cast<std::size_t>(node.outputs.front())];
  if (!whole.present) return;
  for (std::size_t i = 1; i < node.outputs.size(); ++i) {
    Slot& part = slots_[static_cast<std::size_t>(node.outputs[i])];
    if (part.parent < 0) return;
    if (!part.present) whole.gradient.column_view(part.first_column, part.shape.columns()).fill(0);
    part.gradient = Tensor();
  }
}

void Tape::run(Node& node) {
  settle_packed(node);
  const bool reached = std::any_of(node.outputs.begin(), node.outputs.end(),
                                   [&](int slot) { return slots_[static_cast<std::size_t>(slot)].present; });
  if (!reached) return;
  Gradients gradients(*this, node.inputs, node.outputs);
  node.backward(gradients);
  gradients.add_doubled();
  if (options_.checking) node.op->mark_checked();
  for (const int output : node.outputs) slots_[static_cast<std::size_t>(output)].gradient = Tensor();
  if (Profile* profile = Profile::active()) {
    const auto bytes = [this](int index) {
      const Slot& slot = slots_[static_cast<std::size_t>(index)];
      return bytes_of(slot.shape, slot.parameter ? slot.parameter->gradient().type() : slot.type);
    };
    double read = 0, written = 0;
    for (const int output : node.outputs)  // of a packed op the whole is one of them
      if (slots_[static_cast<std::size_t>(output)].parent < 0) read += bytes(output);
    for (const int input : node.inputs)
      if (input >= 0) written += bytes(input);
    profile->op(Phase::backward, node.op->name(), node.path, read, written);
  }
  if (!options_.find_nan) return;
  for (const int input : node.inputs) {
    if (input < 0) continue;
    const Slot& slot = slots_[static_cast<std::size_t>(input)];
    require_finite(slot.parameter ? slot.parameter->gradient() : slot.gradient, *node.op, node.path,
                   "gradient");
  }
}

void Tape::backward(const Var& output, Tensor gradient) {
  if (!output.wants_gradient()) {
    nodes_.clear();
    return;
  }
  Slot& slot = slots_[static_cast<std::size_t>(output.slot_)];
  check(gradient.shape() == slot.shape, "backward: gradient of shape ", gradient.shape(), " for ",
        slot.shape);
  if (slot.present) {  // the output is a variable that started with a gradient
    if (!slot.gradient.unique()) slot.gradient = slot.gradient.clone();
    accumulate(gradient, slot.gradient);
  } else {
    slot.gradient = std::move(gradient);
    slot.present = true;
  }
  while (!nodes_.empty()) {
    run(nodes_.back());
    nodes_.pop_back();
  }
}

void Tape::backward(const Var& loss) {
  check(loss.shape().count() == 1, "backward needs a single number, got shape ", loss.shape());
  backward(loss, Tensor::filled(loss.shape(), loss.type(), 1));
}

const Tensor& Tape::gradient(const Var& variable) const {
  check(variable.slot_ >= 0, "gradient of a Var that wants none");
  return slots_[static_cast<std::size_t>(variable.slot_)].gradient;
}

void Tape::require_finite(const Tensor& tensor, const Op& op, const std::string* path,
                          const char* what) const {
  if (!options_.find_nan || !tensor || all_finite(tensor)) return;
  throw DivergedError(join_text("NaN or infinity in the ", what, " of op '", op.name(), "' in ",
                                path ? *path : std::string("(no module)"), ", shape ", tensor.shape()));
}

}  // namespace attnlab
