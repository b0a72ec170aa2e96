#include "study/npz.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cstring>

#include "data/files.h"

namespace attnlab {
namespace {

void put(std::string& out, std::uint64_t value, int bytes) {  // little-endian
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

// NEP 1: magic, version 1.0, length and text of a Python dictionary, padded to 64 bytes, then the numbers.
std::string npy(const Tensor& tensor) {
  const Tensor dense = tensor.type() == DType::bf16 ? tensor.converted(DType::f32) : tensor.clone();
  std::string shape;
  for (int axis = 0; axis < dense.shape().rank(); ++axis) shape += fmt::format("{},", dense.shape()[axis]);
  std::string header = fmt::format("{{'descr': '<f{}', 'fortran_order': False, 'shape': ({}), }}",
                                   size_of(dense.type()), shape);
  header.append(64 - (10 + header.size() + 1) % 64, ' ');
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  put(out, header.size(), 2);
  out += header;
  const auto bytes = static_cast<std::size_t>(dense.count() * size_of(dense.type()));
  if (bytes > 0) out.append(static_cast<const char*>(dense.raw()), bytes);
  return out;
}

std::string deflated(const std::string& bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw IoError("zlib cannot compress");
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int end = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (end != Z_STREAM_END) throw IoError("zlib cannot compress");
  return out;
}

struct Entry {
  std::string name, packed;
  std::uint32_t crc = 0;
  std::size_t size = 0, offset = 0;
};

// What local headers and the directory have in common (APPNOTE 4.4): version, flags (names are UTF-8),
// deflate, a fixed time (1 January 1980), checksum, sizes, lengths of name and extra field.
std::string common_fields(const Entry& entry) {
  std::string out;
  put(out, 20, 2);
  put(out, 1U << 11, 2);
  put(out, 8, 2);
  put(out, 0, 2);
  put(out, 0x21, 2);
  put(out, entry.crc, 4);
  put(out, entry.packed.size(), 4);
  put(out, entry.size, 4);
  put(out, entry.name.size(), 2);
  put(out, 0, 2);
  return out;
}

std::string directory_entry(const Entry& entry) {
  std::string out = "PK\x01\x02";
  put(out, 20, 2);
  out += common_fields(entry);
  put(out, 0, 2 + 2 + 2);  // comment, disk, internal attributes
  put(out, 0, 4);
  put(out, entry.offset, 4);
  return out + entry.name;
}

}  // namespace

void write_npz(const std::filesystem::path& path, const std::vector<NamedTensor>& arrays) {
  constexpr std::uint64_t kLimit = 0xffffffff;  // of plain zip, in bytes; 65535 entries
  std::string file, directory;
  if (arrays.size() > 0xffff) throw IoError(path.string() + ": more than 65535 arrays");
  for (const NamedTensor& array : arrays) {
    const std::string bytes = npy(array.tensor);
    if (bytes.size() > kLimit) throw IoError(path.string() + ": array '" + array.name + "' exceeds 4 GiB");
    Entry entry{array.name + ".npy", deflated(bytes), 0, bytes.size(), file.size()};
    entry.crc =
        static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
    file += "PK\x03\x04" + common_fields(entry) + entry.name + entry.packed;
    if (file.size() > kLimit) throw IoError(path.string() + ": the arrays exceed 4 GiB");
    directory += directory_entry(entry);
  }
  std::string end = "PK\x05\x06";
  put(end, 0, 4);
  put(end, arrays.size(), 2);
  put(end, arrays.size(), 2);
  put(end, directory.size(), 4);
  put(end, file.size(), 4);
  put(end, 0, 2);
  write_file(path, file + directory + end);
}

}  // namespace attnlab
