// The safetensors format: an 8-byte length, a JSON header, raw tensors. Reading trusts nothing: a damaged or
// hostile file gives an IoError that says what is wrong, and nothing is allocated beyond the size of the
// file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "train/durable_file.h"

namespace attnlab {

// Element types of a file; Tensor has only three of them.
enum class FileType : std::uint8_t {
  boolean,
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  u64,
  i64,
  f8_e5m2,
  f8_e4m3,
  f16,
  bf16,
  f32,
  f64
};
Index size_of(FileType type);
std::string to_string(FileType type);  // as in files: "F32"

struct TensorEntry {
  std::string name;
  FileType type = FileType::f32;
  std::vector<Index> shape;
  std::uint64_t begin = 0, end = 0;  // bytes after the header
  Index count() const;
};

class SafetensorsFile {
 public:
  // Reads and checks the header; a .bin file is read as one of llama2.c (llama2c_file.h). Throws IoError.
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::vector<TensorEntry>& entries() const { return entries_; }  // in the order of their bytes
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const TensorEntry* find(const std::string& name) const;  // nullptr if there is none
  // Writes the numbers into `out` (contiguous, same shape), converted to its type. Throws IoError.
  void read(const TensorEntry& entry, const Tensor& out);
  // The numbers as a new tensor.
  Tensor read(const TensorEntry& entry, DType type);
  // Entries of a whole-number type, without rounding. Throws IoError for other types.
  std::vector<std::int64_t> read_integers(const TensorEntry& entry);
  const std::filesystem::path& path() const { return path_; }

 private:
  template <class Use>
  void read_pieces(const TensorEntry& entry, Use use);
  std::filesystem::path path_;
  std::ifstream in_;
  std::uint64_t data_start_ = 0;
  std::vector<TensorEntry> entries_;
  std::map<std::string, Index> by_name_;
  std::map<std::string, std::string> metadata_;
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// Writes the tensors in the given order, in their own types, durably (durable_file.h). Throws IoError.
FileDigest write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                             const std::map<std::string, std::string>& metadata = {});

}  // namespace attnlab
