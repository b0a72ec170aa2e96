// Numbers beside each other. What is not finite is said as such, with its place, before how far they are
// apart.
#pragma once

#include "attention/properties_problem.h"
#include "attention/properties_table.h"

namespace attnlab {

// Whether x holds neither NaN nor infinity; else `verdict` has failed, naming the first such row and column.
bool check_finite(Verdict& verdict, const Tensor& x, const std::string& where);
// The same of the output and all gradients of a run.
bool check_finite(Verdict& verdict, const Rig& rig, const Run& run, const std::string& where);

// The error of `got` must not exceed `bound`: distance() from `expected`, or the same bits where it is 0.
void compare(Verdict& verdict, const Tensor& got, const Tensor& expected, double bound,
             const std::string& where);

}  // namespace attnlab
