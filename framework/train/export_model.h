// A model of ours as published ones are stored: model.safetensors and config.json, for other programs to
// load.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/parameter.h"
#include "models/weight_family.h"

namespace attnlab {

struct ExportReport {
  std::string family;
  Index tensors = 0;
  std::vector<std::string> left_out;  // one line for each parameter that the family has no place for, and why
};

// Writes `folder`/model.safetensors (f32) and config.json. `family` is a registered name, or empty for the
// first one that can say what the model is. Throws ConfigError where none can, with what each cannot say;
// IoError where writing fails; both leave what was there.
ExportReport export_model(const ModelSpec& spec, const ParameterSet& parameters, const std::string& family,
                          const std::filesystem::path& folder);

}  // namespace attnlab
