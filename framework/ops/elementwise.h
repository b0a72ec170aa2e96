// Arithmetic and elementary functions, element by element. Two operands of one type broadcast size-1 axes (a
// missing leading axis counts as size 1), up to rank 5; ShapeError otherwise.
#pragma once

#include "core/tape.h"

namespace attnlab {

Var add(const Var& a, const Var& b);       // a + b
Var subtract(const Var& a, const Var& b);  // a - b
Var multiply(const Var& a, const Var& b);  // a b
Var divide(const Var& a, const Var& b);    // a / b

Var negate(const Var& x);                     // -x
Var exp(const Var& x);                        // e^x
Var log(const Var& x);                        // natural logarithm
Var sqrt(const Var& x);                       // square root
Var square(const Var& x);                     // x^2
Var reciprocal(const Var& x);                 // 1 / x
Var tanh(const Var& x);                       // hyperbolic tangent
Var sigmoid(const Var& x);                    // 1 / (1 + e^-x)
Var scale(const Var& x, double factor);       // factor x
Var add_number(const Var& x, double number);  // x + number
Var maximum(const Var& x, double number);     // the larger of both; no gradient where x <= number

}  // namespace attnlab
