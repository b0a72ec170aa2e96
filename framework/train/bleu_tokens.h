// The tokenizations of BLEU, as sacreBLEU defines them: 13a (mteval-v13a of the WMT), intl (mteval-v14
// international), char, none. For scoring alone; models have tokenizers of their own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnlab {

enum class BleuTokens { thirteen_a, intl, character, none };

const char* to_string(BleuTokens tokens);  // "13a", "intl", "char", "none"

// The tokens of one line. Throws DataError for invalid UTF-8.
std::vector<std::string> bleu_tokens(BleuTokens tokens, std::string_view line);

}  // namespace attnlab
