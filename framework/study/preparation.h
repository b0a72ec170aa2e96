// Runs that a study needs before its arms: `study.prepare` names them, and an arm starts from the weights of
// one with `model.from: prepared:NAME`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/document.h"
#include "config/problems.h"

namespace attnlab {

struct Preparation {
  std::string name;
  SourcePosition position;
  Tree tree;  // the whole configuration
};

// "body" of "prepared:body"; empty for what names no preparation.
std::string_view prepared_name(std::string_view from);

// The section `prepare:`: {NAME: FILE}, or {NAME: {config: FILE, …keys on top of the file's}}. A file is
// relative to the one that names it. `data.root` of the study holds for them, too. What is wrong goes to
// `problems`.
std::vector<Preparation> read_preparations(const ConfigNode& section, const Tree& study, Problems& problems);

// The section with the short form NAME: FILE written out, so that a quick version can add keys.
ConfigNode written_out(ConfigNode section);

}  // namespace attnlab
