// Stored reference values: tests/golden/NAME, with the script beside it that made them.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace attnlab {

inline nlohmann::json golden(const std::string& name) {
  const std::string path = std::string(ATTNLAB_SOURCE_DIR) + "/tests/golden/" + name;
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot open");
  return nlohmann::json::parse(file);
}

}  // namespace attnlab
