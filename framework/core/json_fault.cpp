#include "core/json_fault.h"

#include <nlohmann/json.hpp>
#include <unordered_set>
#include <vector>

#include "core/error.h"

namespace attnlab {
namespace {

class Walk final : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::string fault;

  bool start_object(std::size_t) override { return open(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (keys_.back().insert(name).second) return true;
    fault = "is damaged: the key '" + name.substr(0, 60) + "' stands twice in one object";
    return false;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool open() {
    keys_.emplace_back();
    if (keys_.size() <= kDeepestJson) return true;
    fault = join_text("is damaged: nested more than ", kDeepestJson, " levels deep");
    return false;
  }
  bool close() {
    keys_.pop_back();
    return true;
  }

  std::vector<std::unordered_set<std::string>> keys_;  // of each object that is open; empty for lists
};

}  // namespace

std::string json_fault(std::string_view json) {
  Walk walk;
  nlohmann::json::sax_parse(json, &walk);
  return walk.fault;
}

}  // namespace attnlab
