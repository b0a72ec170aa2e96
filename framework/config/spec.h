// What one does with a spec: read it strictly, write it, list its keys, compare two. See fields.h for what a
// spec is.
#pragma once

#include <string>
#include <vector>

#include "config/document.h"
#include "config/fields.h"

namespace attnlab {

// One key as `config schema` shows it.
struct FieldDoc {
  std::string path;  // "model.attention.width"
  std::string when;  // "model.attention.kind=window|linear": only with these kinds; mostly empty
  std::string type;  // "whole number", "text", "list of numbers", "choice", "section", "kind of attention", …
  std::string value;  // default as YAML; empty for sections
  std::string range;  // "at least 1"
  std::vector<std::string> choices;
  std::string unit;
  std::string doc;
  bool is_copy = false;  // a section with the keys and values of another one,
  std::string inherits;  // which has this path, "" at the top
};

// One key that differs; the sides are YAML, empty where the key does not exist.
struct SpecDifference {
  std::string path, a, b;
};

using DescribeSpec = std::function<void(Fields&)>;
void read_fields(const Tree& tree, const DescribeSpec& fields);
void read_fields(const Tree& tree, const DescribeSpec& fields, Problems& problems);
std::string write_fields(const DescribeSpec& fields, const Tree* tree);
std::vector<FieldDoc> describe_fields(const DescribeSpec& fields);
std::vector<SpecDifference> diff_fields(const DescribeSpec& a, const DescribeSpec& b);

template <class Spec>
DescribeSpec fields_of(const Spec& spec) {
  return [&spec](Fields& f) { const_cast<Spec&>(spec).fields(f); };
}

// Reads `tree` onto `spec`. Throws one ConfigError with all problems, those of loading included, one a line:
// `file:line:column: error: …`. The spec is then unusable.
template <class Spec>
void read_spec(const Tree& tree, Spec& spec) {
  read_fields(tree, fields_of(spec));
}

// The same where more is to be read: adds to `problems` instead of throwing.
template <class Spec>
void read_spec(const Tree& tree, Spec& spec, Problems& problems) {
  read_fields(tree, fields_of(spec), problems);
}

// A map within a document, read as a spec of its own: an entry of a list or of a map with names that the user
// chooses, which Fields does not describe. `path` is its place, for messages; `others` are keys that the
// caller reads itself.
struct SpecPart {
  const ConfigNode& node;
  std::string path;
  SourcePosition position;  // of its key, where a rule about absent keys points to
  std::vector<std::string> others{};
};
void read_part(const SpecPart& part, const DescribeSpec& fields, Problems& problems);
template <class Spec>
void read_part(const SpecPart& part, Spec& spec, Problems& problems) {
  read_part(part, fields_of(spec), problems);
}

// Block-style YAML with every key, which reads back to the same spec. Inheriting sections hold only the keys
// that differ from what they inherit and, when the tree is given that the spec was read from, those set
// explicitly.
template <class Spec>
std::string write_spec(const Spec& spec) {
  return write_fields(fields_of(spec), nullptr);
}
template <class Spec>
std::string write_spec(const Spec& spec, const Tree& tree) {
  return write_fields(fields_of(spec), &tree);
}

// All keys in the order of fields(), those of every registered kind included.
template <class Spec>
std::vector<FieldDoc> describe(const Spec& spec) {
  return describe_fields(fields_of(spec));
}

// The keys in which two specs differ.
template <class Spec>
std::vector<SpecDifference> diff(const Spec& a, const Spec& b) {
  return diff_fields(fields_of(a), fields_of(b));
}

}  // namespace attnlab
