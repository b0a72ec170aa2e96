#include "ops/gate_heads.h"

#include "support/gradient_case.h"

using namespace attnlab;

namespace {
const GradientCase gates{"gate heads", [] {
                           return GradientCheck{
                               [](Tape&, const auto& in) { return gate_heads(in[0], in[1]); },
                               {random_tensor({4, 6}, "x"), random_tensor({3}, "gates")}};
                         }};
}  // namespace
