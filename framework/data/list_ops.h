// ListOps (Nangia and Bowman 2018): nested operations on digits, as the generator of Tay et al. 2020 draws
// them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/random.h"

namespace attnlab {

// A digit, or an operator with its arguments.
struct ListExpression {
  int operation = -1;  // of kListOperators; -1: a digit
  int digit = 0;
  std::vector<ListExpression> arguments;

  int value() const;
  Index length() const;      // symbols: one a digit, two an operation
  std::string text() const;  // "[MAX 2 9 [MIN 4 7 ] 0 ]"
};

inline constexpr const char* kListOperators[] = {"[MIN", "[MAX", "[MED", "[SM"};

struct ListRule {
  Index max_depth = 10, max_arguments = 10;
  double operator_share = 0.25;  // of nodes above the deepest
  Index max_length = 2000;
};

// Draws number n of a stream; nothing if it grows beyond the longest.
std::optional<ListExpression> draw_list_expression(const ListRule& rule, const Random& random);

}  // namespace attnlab
