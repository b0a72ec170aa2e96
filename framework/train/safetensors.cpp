#include "train/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "train/half.h"
#include "train/llama2c_file.h"
#include "train/safetensors_header.h"

namespace attnlab {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors holds little-endian numbers");
constexpr std::uint64_t kLargestHeader = 100'000'000;
constexpr Index kPiece = 1 << 16;  // elements converted at a time

struct Half {
  std::uint16_t bits;
  explicit operator float() const { return half_to_float(bits); }
};

// Calls f with a value of the C++ type that a file's elements have.
template <class Function>
void with_file_type(FileType type, const std::string& where, Function&& f) {
  switch (type) {
    case FileType::boolean:
    case FileType::u8:
      return f(std::uint8_t{});
    case FileType::i8:
      return f(std::int8_t{});
    case FileType::u16:
      return f(std::uint16_t{});
    case FileType::i16:
      return f(std::int16_t{});
    case FileType::u32:
      return f(std::uint32_t{});
    case FileType::i32:
      return f(std::int32_t{});
    case FileType::u64:
      return f(std::uint64_t{});
    case FileType::i64:
      return f(std::int64_t{});
    case FileType::f16:
      return f(Half{});
    case FileType::bf16:
      return f(bfloat16{});
    case FileType::f32:
      return f(float{});
    case FileType::f64:
      return f(double{});
    case FileType::f8_e5m2:
    case FileType::f8_e4m3:
      break;
  }
  throw IoError(where + ": elements of type " + to_string(type) +
                " cannot be read; expected whole numbers, or others of 16 bits or more");
}

template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<To, From>)
    return value;
  else if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, bfloat16>)
    return static_cast<To>(static_cast<float>(value));
  else if constexpr (std::is_same_v<To, bfloat16>)
    return bfloat16(static_cast<float>(value));
  else
    return static_cast<To>(value);
}

// The header of a file of that many bytes, read from its beginning, and its own length.
std::pair<SafetensorsHeader, std::uint64_t> read_header(std::ifstream& in, std::uint64_t size,
                                                        const std::string& file) {
  if (size < 8) throw IoError(join_text(file, ": not a safetensors file: it has only ", size, " bytes"));
  std::uint64_t header_bytes = 0;
  in.read(reinterpret_cast<char*>(&header_bytes), 8);
  if (header_bytes > std::min(size - 8, kLargestHeader))
    throw IoError(join_text(file, ": not a safetensors file, or cut off: a header of ", header_bytes,
                            " bytes in a file of ", size, " (", kLargestHeader, " are allowed)"));
  std::string json(header_bytes, '\0');
  in.read(json.data(), static_cast<std::streamsize>(header_bytes));
  if (!in) throw IoError(file + ": cannot read the header");
  if (json.empty() || json.front() != '{')
    throw IoError(file + ": not a safetensors file: the header is not JSON");
  return {parse_safetensors_header(json, size - 8 - header_bytes, file), 8 + header_bytes};
}

std::pair<SafetensorsHeader, std::uint64_t> read_llama2c_header(std::ifstream& in, std::uint64_t size,
                                                                const std::string& file) {
  std::string numbers(std::min(size, kLlama2cHeaderBytes), '\0');
  in.read(numbers.data(), static_cast<std::streamsize>(numbers.size()));
  if (!in) throw IoError(file + ": cannot read the header");
  return {llama2c_header(numbers, size - numbers.size(), file), kLlama2cHeaderBytes};
}

}  // namespace

Index TensorEntry::count() const { return static_cast<Index>(end - begin) / size_of(type); }

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : path_(path) {
  const std::string file = path.string();
  std::error_code error;
  const bool special = std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error);
  if (special) throw IoError("cannot read " + file + ": not a file");  // a pipe would be waited for
  in_.open(path, std::ios::binary);
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (!in_ || error)
    throw IoError("cannot read " + file + ": " + (error ? error.message() : std::strerror(errno)));
  auto [header, header_bytes] =
      path.extension() == ".bin" ? read_llama2c_header(in_, size, file) : read_header(in_, size, file);
  data_start_ = header_bytes;
  entries_ = std::move(header.entries);
  metadata_ = std::move(header.metadata);
  for (std::size_t i = 0; i < entries_.size(); ++i) by_name_[entries_[i].name] = static_cast<Index>(i);
}

const TensorEntry* SafetensorsFile::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &entries_[static_cast<std::size_t>(found->second)];
}

// Calls use(first element number, elements) piece by piece.
template <class Use>
void SafetensorsFile::read_pieces(const TensorEntry& entry, Use use) {
  const std::string where = path_.string() + ": '" + entry.name + "'";
  with_file_type(entry.type, where, [&](auto zero) {
    using From = decltype(zero);
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(data_start_ + entry.begin));
    const Index count = entry.count();
    std::vector<From> piece(static_cast<std::size_t>(std::min(count, kPiece)));
    for (Index first = 0; first < count; first += kPiece) {
      const Index now = std::min(kPiece, count - first);
      in_.read(reinterpret_cast<char*>(piece.data()),
               static_cast<std::streamsize>(now * Index{sizeof(From)}));
      if (!in_) throw IoError(where + ": cannot read its numbers; the file changed or is cut off");
      use(first, std::span<const From>(piece.data(), static_cast<std::size_t>(now)));
    }
  });
}

void SafetensorsFile::read(const TensorEntry& entry, const Tensor& out) {
  const bool fits = entry.shape.size() == static_cast<std::size_t>(out.shape().rank()) &&
                    out.shape() == Shape(entry.shape.begin(), entry.shape.end());
  if (!fits)
    throw IoError(
        join_text(path_.string(), ": '", entry.name, "' has another shape than the expected ", out.shape()));
  check(out.contiguous(), "reading '", entry.name, "' into a strided tensor");
  dispatch(out.type(), [&](auto zero) {
    using To = decltype(zero);
    To* to = out.data<To>();
    read_pieces(entry, [to](Index first, auto values) {
      for (std::size_t i = 0; i < values.size(); ++i)
        to[first + static_cast<Index>(i)] = convert<To>(values[i]);
    });
  });
}

Tensor SafetensorsFile::read(const TensorEntry& entry, DType type) {
  if (entry.shape.size() > Shape::kMaxRank)
    throw IoError(join_text(path_.string(), ": '", entry.name, "' has ", entry.shape.size(),
                            " axes, at most ", Shape::kMaxRank, " can be read"));
  Tensor out(Shape(entry.shape.begin(), entry.shape.end()), type);
  read(entry, out);
  return out;
}

std::vector<std::int64_t> SafetensorsFile::read_integers(const TensorEntry& entry) {
  if (entry.type > FileType::i64)
    throw IoError(path_.string() + ": '" + entry.name + "' is " + to_string(entry.type) +
                  ", expected whole numbers");
  std::vector<std::int64_t> result;
  read_pieces(entry, [&result](Index, auto values) {
    for (const auto value : values) {
      if constexpr (std::is_integral_v<std::decay_t<decltype(value)>>)
        result.push_back(static_cast<std::int64_t>(value));
    }
  });
  return result;
}

FileDigest write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                             const std::map<std::string, std::string>& metadata) {
  const std::string header = make_safetensors_header(tensors, metadata);
  const std::uint64_t header_bytes = header.size();
  DurableFile file(path);
  file.write(&header_bytes, 8);
  file.write(header.data(), header.size());
  for (const auto& [name, tensor] : tensors) {
    const Tensor whole = tensor.contiguous() ? tensor : tensor.clone();
    file.write(whole.raw(), static_cast<std::size_t>(whole.count() * size_of(whole.type())));
  }
  file.commit();
  return file.digest();
}

}  // namespace attnlab
