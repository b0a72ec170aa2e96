// The config.json of a published model, as flat keys: nested ones with dots ("rope_scaling.factor").
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/dtype.h"

namespace attnlab {

class PublishedConfig {
 public:
  PublishedConfig() = default;
  // Throws IoError, naming `file`, for what is no JSON object, or nested too deeply for one.
  PublishedConfig(const std::string& json, std::string file);

  bool has(const std::string& key) const;  // there, and not null
  // The value of a key; throws IoError where it is missing (without `otherwise`) or of another type.
  Index integer(const std::string& key, std::optional<Index> otherwise = {}) const;
  double number(const std::string& key, std::optional<double> otherwise = {}) const;
  bool flag(const std::string& key, std::optional<bool> otherwise = {}) const;
  std::string text(const std::string& key, std::optional<std::string> otherwise = {}) const;
  std::string json(const std::string& key) const;  // as it stands there; empty where it is missing
  // Throws IoError unless the key is absent, null, or has this value as JSON ("false", "\"absolute\""): for
  // what our models do not have.
  void require(const std::string& key, const std::string& json) const;
  const std::string& file() const { return file_; }

 private:
  const std::string* find(const std::string& key) const;
  [[noreturn]] void wrong(const std::string& key, const std::string& expected) const;
  std::string file_;
  std::map<std::string, std::string> values_;  // as JSON
};

}  // namespace attnlab
