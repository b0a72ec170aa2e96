// Named weights in contiguous arenas. A set is declared first, then laid out once it is known what trains:
// trainable weights first, in order of declaration, so that clipping, the optimiser and all-reduce are single
// passes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/tensor.h"

namespace attnlab {

// Where a gradient goes: a buffer, and whether to add to what it holds or to overwrite it.
struct Target {
  Tensor buffer;
  bool add = false;
};

class Parameter {
 public:
  const std::string& name() const { return name_; }
  const Shape& shape() const { return shape_; }
  bool trainable() const { return trainable_; }
  bool decays() const { return decays_; }  // false for norms, biases and gates
  // Kept with the weights, but trains only when asked by name (head gates).
  bool buffer() const { return buffer_; }
  const Tensor& value() const { return value_; }        // the master weights: f32, or f64 in an f64 run
  const Tensor& compute() const { return compute_; }    // what products read: the master, or its bf16 copy
  const Tensor& gradient() const { return gradient_; }  // of the master's type; holds nothing when frozen
  // The gradient and "overwrite" for the first contribution of an accumulation window, then "add".
  Target take_gradient_target();
  bool has_gradient() const { return written_; }  // something was contributed in this window

 private:
  friend class ParameterSet;
  std::string name_;
  Shape shape_;
  bool trainable_ = true, decays_ = true, buffer_ = false, written_ = false;
  Index group_ = -1, arena_offset_ = 0;
  Tensor value_, compute_, gradient_;
  std::function<void(std::span<double>, Index first, const Random&)> fill_;
};

// Writes initial values number first, first + 1, …; a pure function of the index, so that it may run in
// pieces.
using Fill = std::function<void(std::span<double> values, Index first, const Random&)>;

// When initial values are made: with the memory, or by draw(), so that those that a file overwrites need
// none.
enum class InitialValues { drawn, zero };

class ParameterSet {
 public:
  // Declares a parameter. ShapeError if the name is taken. The reference stays valid.
  Parameter& add(const std::string& name, const Shape& shape, Fill fill, bool decays = true);
  Parameter& add_buffer(const std::string& name, const Shape& shape, Fill fill);
  // Parameters declared between these calls lie next to each other without gaps (query, key and value as one
  // product).
  void begin_group();
  void end_group();

  // Lays out memory and fills initial values from streams (seed, name): they do not depend on other
  // parameters. `type` is the type of activations; masters are f32 for bf16. Frozen parameters get no
  // gradient.
  void finalise(DType type, std::uint64_t seed, const std::function<bool(const Parameter&)>& trainable,
                InitialValues values = InitialValues::drawn);
  // Fills those that `wanted` selects, from the same streams, in whatever order.
  void draw(const std::function<bool(const Parameter&)>& wanted);
  void begin_window();     // the next contribution to each gradient overwrites
  void finish_window();    // gradients without a contribution become zero
  void refresh_compute();  // copies masters to the bf16 working copies

  Parameter* find(const std::string& name) const;  // nullptr if there is none
  const std::vector<std::unique_ptr<Parameter>>& all() const {
    return parameters_;
  }  // in order of declaration
  bool finalised() const { return static_cast<bool>(values_); }
  DType type() const { return type_; }  // of activations
  DType master_type() const { return type_ == DType::f64 ? DType::f64 : DType::f32; }
  const Tensor& values() const { return values_; }        // arena: trainable, then frozen; gaps are zero
  const Tensor& gradients() const { return gradients_; }  // arena of the trainable part, same layout
  const Tensor& working() const {
    return working_;
  }  // arena of bf16 copies, same layout; holds nothing otherwise
  Index offset(const Parameter& parameter) const { return parameter.arena_offset_; }  // in elements
  Index count(bool trainable_only) const;                                             // numbers, without gaps

 private:
  void fill_values(const Parameter& parameter);

  std::vector<std::unique_ptr<Parameter>> parameters_;
  Tensor values_, gradients_, working_;
  DType type_ = DType::f32;
  std::uint64_t seed_ = 0;
  Index group_ = -1, groups_ = 0;
};

// One matrix over parameters that lie next to each other, stacked by rows; holds nothing if they do not.
Tensor stacked(const std::vector<const Tensor*>& neighbours);

}  // namespace attnlab
