// What became of every tensor of a file and of every parameter of a model when the one was read into the
// other.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/dtype.h"

namespace attnlab {

struct WeightReport {
  struct Item {
    std::string name, note;
  };
  std::vector<Item> used;         // tensors whose numbers the model now has
  std::vector<Item> transposed;   // those of them that were stored the other way round
  std::vector<Item> cut;          // those of which only the first rows were taken
  std::vector<Item> tied;         // tensors that repeat another one
  std::vector<Item> fresh;        // parameters that keep their initial values, and why
  std::vector<Item> unused;       // tensors that nothing asks for, and why
  std::vector<Item> unexplained;  // both sorts, without a reason: an error
  Index numbers = 0;              // taken

  // One line a group; layer numbers are folded.
  std::string text() const;
  // A handful of the unexplained ones, how many more there are, and what to do about them. Empty if there are
  // none.
  std::string problems() const;
};

}  // namespace attnlab
