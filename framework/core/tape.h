// Define-by-run differentiation on one linear tape. An op computes its outputs at once and leaves a closure
// for backward; what the closure captures is what stays in memory. Backward pops nodes from the end, so
// activations return to the pool as it goes. Closures capture tensors, never Vars; they ask for the target of
// each input's gradient.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/kept_value.h"
#include "core/parameter.h"

namespace attnlab {

class Tape;

// The name of a differentiable function. Constructing one (a constant at file scope) enters it in the table
// of all ops; a test fails when an op in the table has no gradient check.
class Op {
 public:
  explicit Op(const char* name);
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;
  const char* name() const { return name_; }
  bool checked() const { return checked_; }  // its backward ran inside a gradient check
  void mark_checked() const { checked_ = true; }
  static const std::vector<const Op*>& all();

 private:
  const char* name_;
  mutable bool checked_ = false;
};

// A value and its place on a tape. Cheap to copy.
class Var {
 public:
  Var() = default;
  explicit operator bool() const { return tape_ != nullptr; }
  const Tensor& value() const { return value_; }
  const Shape& shape() const { return value_.shape(); }
  DType type() const { return value_.type(); }
  Tape& tape() const { return *tape_; }
  bool wants_gradient() const { return slot_ >= 0; }
  // For a closure that reads the value in backward.
  KeptValue kept() const { return again_ ? KeptValue(again_) : KeptValue(value_); }
  // The same Var, of which closures keep no more than `make`, a function of what its own closure keeps that
  // returns the same bits; as it is where it has no closure. For cheap ops whose results are large.
  Var made_again_by(std::function<Tensor()> make) const {
    Var result = *this;
    if (wants_gradient()) result.again_ = std::make_shared<MadeAgain>(std::move(make));
    return result;
  }

 private:
  friend class Tape;
  friend class Gradients;
  Var(Tape* tape, int slot, Tensor value) : tape_(tape), slot_(slot), value_(std::move(value)) {}
  Tape* tape_ = nullptr;
  int slot_ = -1;
  Tensor value_;
  std::shared_ptr<MadeAgain> again_;
};

// What a backward closure sees: gradients of the outputs, and where to put those of the inputs.
class Gradients {
 public:
  bool has(int output) const;               // some consumer contributed (with one output: always)
  const Tensor& out(int output = 0) const;  // of a packed op: all columns, missing blocks are zero
  Tensor take_out(int output = 0);  // hands over the gradient: a closure that owns it alone may overwrite it
  bool wants(int input) const;
  // A buffer of the input's shape; overwrite it, or add to it. Ask once per input, and only if it is wanted.
  // Where two inputs are one Var, the second gets a buffer of its own, so that either may be written first.
  Target target(int input);
  void give(int input, Tensor gradient);  // moves the gradient in, or adds it to what is there
  // What later consumers have contributed so far, for a closure that goes on adding to it and gives back the
  // whole; holds nothing if nobody has, or if the gradient lies in a larger buffer.
  Tensor take_input(int input);
  Tape& tape() const { return tape_; }

 private:
  friend class Tape;
  void add_doubled();
  Gradients(Tape& tape, const std::vector<int>& inputs, const std::vector<int>& outputs)
      : tape_(tape), inputs_(inputs), outputs_(outputs) {}
  Tape& tape_;
  const std::vector<int>& inputs_;
  const std::vector<int>& outputs_;
  std::vector<int> asked_;
  std::vector<std::pair<int, Tensor>> doubled_;
};

using Backward = std::function<void(Gradients&)>;

// Sees values on their way through a model, and may put others in their place: probes and interventions.
class Observer {
 public:
  virtual ~Observer() = default;
  // `what` of the module at this path: "query", "key", "value", "heads" (rows before gates); of a sublayer
  // "residual" (what it is added to) and "sublayer" (what it adds); of a stack "input" and "output", of a
  // layer "output". Returns the value to go on with, of the same shape and type.
  virtual Var see(const std::string& module, std::string_view what, const Var& value) = 0;
};

struct TapeOptions {
  bool training = true;    // false: dropout is off and nothing is recorded
  bool record = true;      // false in the first run of a recomputed block: dropout on, nothing recorded
  std::uint64_t seed = 0;  // of dropout
  std::uint64_t step = 0;  // optimiser step: other dropout masks each step
  bool find_nan =
      false;  // throw DivergedError at the first NaN or infinity, naming the op and the module path
  bool checking = false;  // a gradient check: marks the ops whose backward ran
  Observer* observer = nullptr;
};

class Tape {
 public:
  explicit Tape(TapeOptions options = {}) : options_(options) {}
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  const TapeOptions& options() const { return options_; }
  bool training() const { return options_.training; }
  Random random(std::uint64_t stream) const { return {options_.seed, stream, options_.step}; }

  Var constant(Tensor value) { return {this, -1, std::move(value)}; }  // data: no gradient
  // A leaf whose gradient can be read after backward; contributions are added to `gradient` if it holds any.
  Var variable(Tensor value, Tensor gradient = {});
  Var leaf(Parameter& parameter);  // its working copy; the gradient lands in the parameter's arena slice
  Var record(const Op&, const std::vector<Var>& inputs, Tensor output, Backward);
  std::vector<Var> record_outputs(const Op&, const std::vector<Var>& inputs, std::vector<Tensor> outputs,
                                  Backward);
  // One output matrix whose column blocks are separate Vars (views); backward sees one packed gradient.
  std::vector<Var> record_packed(const Op&, const std::vector<Var>& inputs, const Tensor& packed,
                                 const std::vector<Index>& columns, Backward);

  void backward(const Var& output, Tensor gradient);  // consumes the nodes; output's shape
  void backward(const Var& loss);                     // of a single number
  const Tensor& gradient(const Var& variable) const;  // after backward; holds nothing if there is none
  std::size_t node_count() const { return nodes_.size(); }
  bool met_trainable() const { return met_trainable_; }  // a trainable parameter was read, recorded or not
  const std::string* path() const { return path_; }      // of the module at work, or nullptr

  void set_observer(Observer* observer) { options_.observer = observer; }  // who must outlive the tape's use
  bool observed() const { return options_.observer != nullptr; }
  // Shows a value to the observer, if there is one.
  static Var observe(const std::string& module, std::string_view what, const Var& value) {
    Observer* observer = value ? value.tape().options_.observer : nullptr;
    return observer == nullptr ? value : observer->see(module, what, value);
  }

  // Names the module at work for messages, while the guard lives.
  class Scope {
   public:
    Scope(Tape& tape, const std::string& path) : tape_(tape), outer_(tape.path_) { tape.path_ = &path; }
    ~Scope() { tape_.path_ = outer_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Tape& tape_;
    const std::string* outer_;
  };

 private:
  friend class Gradients;
  struct Slot {
    Tensor gradient;
    Shape shape;
    DType type = DType::f32;
    Parameter* parameter = nullptr;
    int parent = -1;  // packed outputs: the slot of the whole, and the first column in it
    Index first_column = 0;
    bool present = false;
  };
  struct Node {
    const Op* op;
    const std::string* path;
    std::vector<int> inputs, outputs;
    Backward backward;
  };

  int new_slot(const Tensor& value);
  bool wanted(const std::vector<Var>& inputs) const;
  Target target_of(int slot);
  void push(const Op&, const std::vector<Var>& inputs, std::vector<int> outputs, Backward);
  void run(Node& node);
  void settle_packed(const Node& node);
  void require_finite(const Tensor& tensor, const Op& op, const std::string* path, const char* what) const;

  TapeOptions options_;
  std::vector<Slot> slots_;
  std::vector<Node> nodes_;
  const std::string* path_ = nullptr;
  bool met_trainable_ = false;
};

// Records on the tape of the first input.
inline Var record(const Op& op, const std::vector<Var>& inputs, Tensor output, Backward backward) {
  return inputs.front().tape().record(op, inputs, std::move(output), std::move(backward));
}

}  // namespace attnlab
