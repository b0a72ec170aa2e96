// What a closure for backward keeps of a value: the value itself, or how to make it again where that takes
// less time than it is worth in memory (Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost").
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "core/tensor.h"

namespace attnlab {

// A value that was let go, made again when the first of those who kept it asks, and let go when the last is
// done.
class MadeAgain {
 public:
  explicit MadeAgain(std::function<Tensor()> make) : make_(std::move(make)) {}
  const Tensor& value() {
    if (!value_) value_ = make_();
    return value_;
  }

 private:
  std::function<Tensor()> make_;
  Tensor value_;
};

class KeptValue {
 public:
  KeptValue() = default;  // keeps nothing
  explicit KeptValue(Tensor value) : value_(std::move(value)) {}
  explicit KeptValue(std::shared_ptr<MadeAgain> again) : again_(std::move(again)) {}
  // The same bits as in forward.
  const Tensor& value() const { return again_ ? again_->value() : value_; }

 private:
  Tensor value_;
  std::shared_ptr<MadeAgain> again_;
};

}  // namespace attnlab
