#include "ops/checkpoint.h"

#include <optional>

namespace attnlab {
namespace {

const Op kCheckpoint{"checkpoint"};

// Runs the block on a tape of its own under the name of the module at work.
Var run(const Block& block, Tape& tape, const std::string* path, const std::vector<Var>& inputs) {
  std::optional<Tape::Scope> scope;
  if (path != nullptr) scope.emplace(tape, *path);
  return block(tape, inputs);
}

// What the first run leaves behind.
struct Kept {
  Block block;
  std::vector<Tensor> inputs;
  TapeOptions options;
  const std::string* path;
};

// Records the block again and differentiates it. Gradients of the inputs go on from what later consumers
// contributed, so that all sums run in the order that they would have without the second run; those of
// parameters go straight to their arena.
void differentiate(const Kept& kept, Gradients& g) {
  Tape tape(kept.options);
  std::vector<Var> inputs;
  for (std::size_t i = 0; i < kept.inputs.size(); ++i) {
    const auto input = static_cast<int>(i);
    inputs.push_back(g.wants(input) ? tape.variable(kept.inputs[i], g.take_input(input))
                                    : tape.constant(kept.inputs[i]));
  }
  const Var y = run(kept.block, tape, kept.path, inputs);
  check(&y.tape() == &tape, "checkpoint: the block's result belongs to another tape");
  tape.backward(y, g.take_out());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].wants_gradient() && tape.gradient(inputs[i]))
      g.give(static_cast<int>(i), tape.gradient(inputs[i]));
}

}  // namespace

Var checkpoint(const Block& block, const std::vector<Var>& inputs) {
  check(!inputs.empty(), "checkpoint: no inputs");
  Tape& tape = inputs.front().tape();
  if (!tape.training() || !tape.options().record) return block(tape, inputs);

  TapeOptions options = tape.options();
  options.record = false;
  Tape first(options);
  Kept kept{block, {}, tape.options(), tape.path()};
  std::vector<Var> constants, recorded = inputs;
  for (const Var& input : inputs) {
    check(&input.tape() == &tape, "checkpoint: inputs of several tapes");
    kept.inputs.push_back(input.value());
    constants.push_back(first.constant(input.value()));
  }
  const Tensor value = run(block, first, kept.path, constants).value();
  // Parameters inside must train even where no input wants a gradient: an empty variable then keeps the node.
  if (first.met_trainable()) recorded.push_back(tape.variable(Tensor({0}, value.type())));
  return record(kCheckpoint, recorded, value, [kept](Gradients& g) { differentiate(kept, g); });
}

}  // namespace attnlab
