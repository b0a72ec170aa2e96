// Many lines to ids at once, in parallel; the result does not depend on the number of threads.
#pragma once

#include <string>
#include <vector>

#include "data/tokenizer.h"

namespace attnlab {

// encode() of every line, in order.
std::vector<std::vector<Token>> encode_lines(const Tokenizer& tokenizer,
                                             const std::vector<std::string>& lines);

}  // namespace attnlab
