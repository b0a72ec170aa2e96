#include "models/published_config.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/json_fault.h"

namespace attnlab {
namespace {

using Json = nlohmann::json;

}  // namespace

PublishedConfig::PublishedConfig(const std::string& json, std::string file) : file_(std::move(file)) {
  if (const std::string fault = json_fault(json); !fault.empty()) throw IoError(file_ + " " + fault);
  const Json root = Json::parse(json, nullptr, false);
  if (!root.is_object()) throw IoError(file_ + " is damaged: no JSON object");
  for (const auto& [key, value] : root.items()) {
    values_[key] = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (!value.is_object()) continue;
    for (const auto& [inner, inner_value] : value.items())
      values_[key + "." + inner] = inner_value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
}

const std::string* PublishedConfig::find(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() || found->second == "null" ? nullptr : &found->second;
}

bool PublishedConfig::has(const std::string& key) const { return find(key) != nullptr; }

void PublishedConfig::wrong(const std::string& key, const std::string& expected) const {
  const std::string* value = find(key);
  if (value == nullptr) throw IoError(file_ + ": '" + key + "' is missing, expected " + expected);
  throw IoError(file_ + ": '" + key + "' is " + value->substr(0, 60) + ", expected " + expected);
}

Index PublishedConfig::integer(const std::string& key, std::optional<Index> otherwise) const {
  const std::string* value = find(key);
  if (value == nullptr && otherwise) return *otherwise;
  const Json json = value ? Json::parse(*value, nullptr, false) : Json();
  const bool fits =
      json.is_number_integer() && (!json.is_number_unsigned() || json.get<std::uint64_t>() < (1ULL << 62));
  if (!fits) wrong(key, "a whole number");
  return json.get<Index>();
}

double PublishedConfig::number(const std::string& key, std::optional<double> otherwise) const {
  const std::string* value = find(key);
  if (value == nullptr && otherwise) return *otherwise;
  const Json json = value ? Json::parse(*value, nullptr, false) : Json();
  if (!json.is_number() || !std::isfinite(json.get<double>())) wrong(key, "a number");
  return json.get<double>();
}

bool PublishedConfig::flag(const std::string& key, std::optional<bool> otherwise) const {
  const std::string* value = find(key);
  if (value == nullptr && otherwise) return *otherwise;
  if (value == nullptr || (*value != "true" && *value != "false")) wrong(key, "true or false");
  return *value == "true";
}

std::string PublishedConfig::text(const std::string& key, std::optional<std::string> otherwise) const {
  const std::string* value = find(key);
  if (value == nullptr && otherwise) return *otherwise;
  const Json json = value ? Json::parse(*value, nullptr, false) : Json();
  if (!json.is_string()) wrong(key, "text");
  return json.get<std::string>();
}

std::string PublishedConfig::json(const std::string& key) const {
  const std::string* value = find(key);
  return value == nullptr ? "" : *value;
}

void PublishedConfig::require(const std::string& key, const std::string& json) const {
  const std::string* value = find(key);
  if (value == nullptr) return;
  const Json own = Json::parse(*value, nullptr, false), expected = Json::parse(json, nullptr, false);
  if (own != expected) wrong(key, json + ": attnlab has no other");
}

}  // namespace attnlab
