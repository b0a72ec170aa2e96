#include "train/safetensors_header.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

namespace attnlab {
namespace {

using Json = nlohmann::json;

struct TypeName {
  const char* name;
  FileType type;
  Index bytes;
};
constexpr std::array<TypeName, 15> kTypes{{{"BOOL", FileType::boolean, 1},
                                           {"U8", FileType::u8, 1},
                                           {"I8", FileType::i8, 1},
                                           {"U16", FileType::u16, 2},
                                           {"I16", FileType::i16, 2},
                                           {"U32", FileType::u32, 4},
                                           {"I32", FileType::i32, 4},
                                           {"U64", FileType::u64, 8},
                                           {"I64", FileType::i64, 8},
                                           {"F8_E5M2", FileType::f8_e5m2, 1},
                                           {"F8_E4M3", FileType::f8_e4m3, 1},
                                           {"F16", FileType::f16, 2},
                                           {"BF16", FileType::bf16, 2},
                                           {"F32", FileType::f32, 4},
                                           {"F64", FileType::f64, 8}}};

constexpr std::size_t kLongestList = 64;  // axes of a tensor

const TypeName& entry_of(FileType type) {
  return *std::find_if(kTypes.begin(), kTypes.end(), [type](const TypeName& t) { return t.type == type; });
}

// Receives the header piece by piece, so that a hostile header is never built up in memory.
class HeaderReader final : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderReader(const std::string& file) : file_(file) {}
  SafetensorsHeader header;

  bool key(string_t& name) override {
    if (depth_ == 1) {
      if (!printable(name)) fail("a name holds control characters");
      if (!names_.insert(name).second) fail("two tensors are named '" + name + "'");
      entry_ = TensorEntry{name, FileType::f32, {}, 0, 0};
      in_metadata_ = name == "__metadata__";
      fields_.clear();
    } else {
      if (!fields_.insert(name).second) fail("the key '" + name + "' stands twice in '" + entry_.name + "'");
      if (!in_metadata_ && name != "dtype" && name != "shape" && name != "data_offsets")
        fail("unknown key '" + name + "' in '" + entry_.name + "'");
    }
    key_ = name;
    return true;
  }
  bool start_object(std::size_t) override {
    if (++depth_ > 2 || in_array_) fail("nested deeper than a header may be");
    return true;
  }
  bool end_object() override {
    if (depth_-- == 2 && !in_metadata_) finish_entry();
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_metadata_ || in_array_ || key_ == "dtype") fail("unexpected list" + where());
    in_array_ = true;
    numbers_.clear();
    return true;
  }
  bool end_array() override {
    in_array_ = false;
    if (key_ == "shape") {
      entry_.shape.assign(numbers_.begin(), numbers_.end());
    } else {
      if (numbers_.size() != 2) fail("data_offsets must be two numbers" + where());
      entry_.begin = numbers_[0];
      entry_.end = numbers_[1];
    }
    return true;
  }
  bool string(string_t& text) override {
    if (depth_ != 2 || in_array_) fail("unexpected text" + where());
    if (in_metadata_) {
      header.metadata[key_] = text;
      return true;
    }
    if (key_ != "dtype") fail(key_ + " must be a list of numbers" + where());
    const auto found =
        std::find_if(kTypes.begin(), kTypes.end(), [&text](const TypeName& t) { return t.name == text; });
    if (found == kTypes.end()) fail("unknown element type '" + text.substr(0, 40) + "'" + where());
    entry_.type = found->type;
    return true;
  }
  bool number_unsigned(number_unsigned_t number) override {
    if (!in_array_) fail("unexpected number" + where());
    if (number > static_cast<std::uint64_t>(std::numeric_limits<Index>::max()))
      fail("number too large" + where());
    numbers_.push_back(number);
    if (numbers_.size() > kLongestList) fail("a list is too long" + where());
    return true;
  }
  bool number_integer(number_integer_t) override { return fail("negative number" + where()); }
  bool number_float(number_float_t, const string_t&) override {
    return fail("number with a fraction" + where());
  }
  bool boolean(bool) override { return fail("unexpected true or false" + where()); }
  bool null() override { return fail("unexpected null" + where()); }
  bool binary(binary_t&) override { return fail("unexpected binary value" + where()); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return fail(join_text("the header is not valid JSON (at byte ", position, " of it)"));
  }

 private:
  [[noreturn]] bool fail(const std::string& what) const {
    throw IoError(file_ + ": damaged safetensors file: " + what);
  }
  std::string where() const { return entry_.name.empty() ? "" : " in '" + entry_.name + "'"; }

  void finish_entry() {
    for (const char* field : {"dtype", "shape", "data_offsets"})
      if (fields_.count(field) == 0) fail(std::string("'") + field + "' is missing" + where());
    std::uint64_t bytes = static_cast<std::uint64_t>(size_of(entry_.type));
    for (const Index size : entry_.shape)
      if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes))
        fail("shape too large" + where());
    if (entry_.begin > entry_.end || entry_.end - entry_.begin != bytes)
      fail(join_text("offsets ", entry_.begin, "…", entry_.end, " do not fit the ", bytes,
                     " bytes of type and shape", where()));
    header.entries.push_back(std::move(entry_));
    entry_ = {};
  }

  const std::string& file_;
  std::set<std::string> names_, fields_;
  std::string key_;
  TensorEntry entry_;
  std::vector<std::uint64_t> numbers_;
  int depth_ = 0;
  bool in_metadata_ = false, in_array_ = false;
};

}  // namespace

Index size_of(FileType type) { return entry_of(type).bytes; }
std::string to_string(FileType type) { return entry_of(type).name; }

bool printable(std::string_view name) {
  return std::none_of(name.begin(), name.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

SafetensorsHeader parse_safetensors_header(const std::string& json, std::uint64_t data_bytes,
                                           const std::string& file) {
  HeaderReader reader(file);
  Json::sax_parse(json, &reader);
  auto& entries = reader.header.entries;
  std::stable_sort(entries.begin(), entries.end(), [](const TensorEntry& a, const TensorEntry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t covered = 0;
  for (const auto& entry : entries) {
    if (entry.begin != covered)
      throw IoError(join_text(file, ": damaged safetensors file: '", entry.name, "' begins at byte ",
                              entry.begin,
                              entry.begin < covered ? ", inside the tensor before it" : ", after a hole",
                              " (expected ", covered, ")"));
    covered = entry.end;
  }
  if (covered != data_bytes)
    throw IoError(join_text(file, ": damaged safetensors file: the header promises ", covered,
                            " bytes of tensors, the file has ", data_bytes));
  return std::move(reader.header);
}

std::string make_safetensors_header(const std::vector<NamedTensor>& tensors,
                                    const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  Index offset = 0;
  for (const auto& [name, tensor] : tensors) {
    check(!header.contains(name), "two tensors are named ", name);
    const Index end = offset + tensor.count() * size_of(tensor.type());
    nlohmann::ordered_json shape = nlohmann::ordered_json::array();
    for (int axis = 0; axis < tensor.shape().rank(); ++axis) shape.push_back(tensor.shape()[axis]);
    const char* type = tensor.type() == DType::f64 ? "F64" : tensor.type() == DType::f32 ? "F32" : "BF16";
    header[name] = {{"dtype", type}, {"shape", shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace attnlab
