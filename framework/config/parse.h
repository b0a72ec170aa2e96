// From YAML text to nodes. Refused with a message: duplicate keys, anchors, aliases, merge keys and tags,
// keys that are not text, nesting beyond kMaxDepth, a second document. After a syntax error reading goes on
// at the next line that starts a key at the left margin, so that one message does not hide the next.
#pragma once

#include <string_view>

#include "config/node.h"
#include "config/problems.h"
#include "config/text_check.h"

namespace attnlab {

inline constexpr std::size_t kMaxDepth = 64;

struct ParsedText {
  ConfigNode root;
  bool complete = true;  // false: a part of the text could not be read
};

ParsedText parse_yaml(std::string_view text, const TextOrigin& origin, Problems& problems);

}  // namespace attnlab
