// The list of all keys, for people and for editors.
#pragma once

#include <string>
#include <vector>

#include "config/spec.h"

namespace attnlab {

// A text table: one key a line with type, default, range or choices, and doc.
std::string schema_table(const std::vector<FieldDoc>& fields);
// The same as a Markdown table.
std::string schema_markdown(const std::vector<FieldDoc>& fields);
// A JSON array of objects with path, when, type, default, range, choices, unit, doc, inherits.
std::string schema_json(const std::vector<FieldDoc>& fields);

}  // namespace attnlab
