// What code made a run, beside what works with it now. The environment.json of a run keeps program_digest()
// as `code`, and its modules as `module_1` (the path as it was named), `module_1_content`, `module_2`, …
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "train/record.h"

namespace attnlab {

// The modules noted so far (note_loaded_module), as environment.json keeps them; empty without any.
Record module_record();

struct CodeDifference {
  bool of_its_modules;  // one that the run was made with is another one or not loaded: so may be its model
  std::string text;     // "the module ./window.so is another one: then …, now …"
};

// From the code that made the run with this environment to the code at work; none where the environment does
// not say, or one of several programs that had part in the run is this one.
std::vector<CodeDifference> code_differences(const Record& environment);

// Logs them for the run in a folder, once each: as a warning what is of its modules, and the rest as
// information, since any change of the numeric sources counts, also one that changes no number. No error
// where there is no environment.json, and a warning where it cannot be read.
void warn_of_other_code(const std::filesystem::path& run);

}  // namespace attnlab
