// Keys and values of all earlier positions, one region of rows per hypothesis, with room to grow.
#pragma once

#include "attention/attention.h"

namespace attnlab {

class KeyValueCache final : public AttentionState {
 public:
  explicit KeyValueCache(Index count);

  // Adds the new rows of each hypothesis behind its earlier ones.
  void append(const HeadRows& rows, const Sequences& places);
  const Tensor& key() const {
    return key_;
  }  // [regions * capacity, H*K]; holds nothing if the kind has no keys
  const Tensor& value() const { return value_; }
  Sequences keys() const;  // where each hypothesis lies in them

  // A hypothesis keeps its parent's region unless another one has taken it: only siblings are copied.
  void reorder(const std::vector<Index>& parents) override;
  std::size_t bytes() const override;

 private:
  void lay_out(Index regions, Index capacity, const HeadRows* like);

  std::vector<Index> lengths_, places_;  // per hypothesis: rows, and the number of its region
  Index regions_ = 0, capacity_ = 0;
  Tensor key_, value_;
};

}  // namespace attnlab
