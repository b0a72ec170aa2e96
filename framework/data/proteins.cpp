#include "data/proteins.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"

namespace attnlab {
namespace {

constexpr Index kMostClasses = 1 << 20;

// Called by the parser for every part of the text. Depth 1 is the list, depth 2 an object in it.
class ProteinReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  ProteinReader(const std::string& label_key, const std::string& name) : label_key_(label_key), name_(name) {}
  std::vector<Protein> proteins;

  bool null() override { return other(); }
  bool boolean(bool) override { return other(); }
  bool number_float(number_float_t, const string_t&) override { return other(); }
  bool binary(binary_t&) override { return other(); }
  bool number_integer(number_integer_t value) override {
    if (!at_label()) return other();
    fail("a label below zero: " + std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (!at_label()) return other();
    if (value >= static_cast<number_unsigned_t>(kMostClasses)) fail("a label of " + std::to_string(value));
    current_.label = static_cast<Index>(value);
    has_label_ = true;
    return true;
  }
  bool string(string_t& value) override {
    if (depth_ != 2 || key_ != "primary") return other();
    const bool letters = !value.empty() &&
                         std::all_of(value.begin(), value.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    if (!letters) fail("residues must be capital letters, got '" + value.substr(0, 20) + "'");
    current_.residues = value;
    return true;
  }
  bool start_object(std::size_t) override {
    if (depth_ == 0) fail("expected a list of objects");
    if (++depth_ != 2) return true;
    current_ = {};
    has_label_ = false;
    return true;
  }
  bool end_object() override {
    if (depth_-- != 2) return true;
    if (current_.residues.empty()) fail("no 'primary'");
    if (!has_label_) fail("no '" + label_key_ + "'");
    proteins.push_back(std::move(current_));
    return true;
  }
  bool key(string_t& value) override {
    if (depth_ == 2) key_ = value;
    return true;
  }
  bool start_array(std::size_t) override {
    if (at_label()) fail("'" + label_key_ + "' is no number");
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    throw DataError(join_text(name_, ": no valid JSON near byte ", position));
  }

 private:
  bool at_label() const { return depth_ == 2 && key_ == label_key_; }
  bool other() {
    if (at_label()) fail("'" + label_key_ + "' is no whole number");
    if (depth_ < 2) fail("expected a list of objects");
    return true;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(join_text(name_, ": protein ", proteins.size() + 1, ": ", what));
  }

  const std::string& label_key_;
  const std::string& name_;
  int depth_ = 0;
  std::string key_;
  Protein current_;
  bool has_label_ = false;
};

}  // namespace

std::vector<Protein> parse_proteins(std::string_view json, const std::string& label_key,
                                    const std::string& name) {
  ProteinReader reader(label_key, name);
  nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
  if (reader.proteins.empty()) throw DataError(name + ": no proteins");
  return std::move(reader.proteins);
}

}  // namespace attnlab
