// The list of all keys, for people and for editors.
#pragma once

#include <string>
#include <vector>

#include "config/spec.h"

namespace attnlab {

// For a terminal: each key with its default, and below it what it means, its type, range, choices and
// conditions.
std::string schema_text(const std::vector<FieldDoc>& fields);
// A Markdown table, for documents.
std::string schema_markdown(const std::vector<FieldDoc>& fields);
// A JSON array of objects with path, when, type, default, range, choices, unit, doc, inherits.
std::string schema_json(const std::vector<FieldDoc>& fields);

}  // namespace attnlab
