// The experiment that tests of studies put their study on.
#pragma once

#include <string>

namespace attnlab {

inline const std::string kSmallExperiment = R"(
name: base
data: {task: {kind: reverse, train: 50, valid: 8, test: 8}}
model: {width: 16, heads: 2, layers: 1}
)";

}  // namespace attnlab
