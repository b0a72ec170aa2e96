#include "data/archive.h"

#include <zlib.h>

#include <algorithm>
#include <fstream>

#include "core/error.h"
#include "data/files.h"

namespace attnlab {
namespace {

using Members = std::map<std::string, std::string>;

constexpr std::size_t kTarBlock = 512;
constexpr std::string_view kZipMember = "PK\x01\x02", kZipEnd = "PK\x05\x06", kZipLocal = "PK\x03\x04";
constexpr std::uint64_t kMostGain = 1040;  // deflate cannot say more in a byte

[[noreturn]] void damaged(const std::string& archive, const std::string& what) {
  throw DataError(archive + ": damaged archive: " + what);
}

std::string raw_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw DataError(path.string() + ": cannot open");
  return {std::istreambuf_iterator<char>(file), {}};
}

// A part of the archive; throws where the archive is shorter.
std::string_view part(std::string_view bytes, std::uint64_t at, std::uint64_t count,
                      const std::string& archive) {
  if (at > bytes.size() || count > bytes.size() - at) damaged(archive, "it ends too early");
  return bytes.substr(at, count);
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::string inflated(std::string_view packed, std::uint64_t size, const std::string& archive) {
  if (size > kMostGain * (packed.size() + 1))
    damaged(archive, "a member says that it is larger than it can be");
  std::string plain(size, '\0');
  z_stream stream{};
  if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) damaged(archive, "zlib cannot start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_out = static_cast<uInt>(plain.size());
  const int code = ::inflate(&stream, Z_FINISH);
  const bool whole = code == Z_STREAM_END && stream.total_out == size;
  ::inflateEnd(&stream);
  if (!whole) damaged(archive, "a member does not unpack to the size that it says");
  return plain;
}

// One entry of the directory at the end of a zip file: 46 bytes, then name, extra field and comment.
std::string zip_member(std::string_view bytes, std::string_view entry, const std::string& archive) {
  const std::uint64_t method = little_endian(entry.substr(10, 2)),
                      packed = little_endian(entry.substr(20, 4)), size = little_endian(entry.substr(24, 4)),
                      start = little_endian(entry.substr(42, 4));
  const std::string_view local = part(bytes, start, 30, archive);
  if (!local.starts_with(kZipLocal)) damaged(archive, "a member is not where its directory says");
  const std::uint64_t before = 30 + little_endian(local.substr(26, 2)) + little_endian(local.substr(28, 2));
  const std::string_view data = part(bytes, start + before, packed, archive);
  if (method == 0) return std::string(data);
  if (method != 8) damaged(archive, join_text("a member is packed by method ", method));
  return inflated(data, size, archive);
}

Members read_zip(std::string_view bytes, const std::vector<std::string>& wanted, const std::string& archive) {
  const std::size_t end = bytes.rfind(kZipEnd);
  if (end == std::string_view::npos) damaged(archive, "a zip file without a directory");
  const std::string_view tail = part(bytes, end, 22, archive);
  std::uint64_t at = little_endian(tail.substr(16, 4));
  Members found;
  for (std::uint64_t left = little_endian(tail.substr(10, 2)); left > 0; --left) {
    const std::string_view entry = part(bytes, at, 46, archive);
    if (!entry.starts_with(kZipMember)) damaged(archive, "its directory holds something else");
    const std::uint64_t length = little_endian(entry.substr(28, 2));
    const std::string name(part(bytes, at + 46, length, archive));
    if (std::find(wanted.begin(), wanted.end(), name) != wanted.end())
      found[name] = zip_member(bytes, entry, archive);
    at += 46 + length + little_endian(entry.substr(30, 2)) + little_endian(entry.substr(32, 2));
  }
  return found;
}

std::string text_field(std::string_view field) { return std::string(field.substr(0, field.find('\0'))); }

std::uint64_t octal_field(std::string_view field, const std::string& archive) {
  std::uint64_t value = 0;
  bool any = false;
  for (const char c : field) {
    if (c == '\0' || c == ' ') {
      if (any) break;
      continue;
    }
    if (c < '0' || c > '7') damaged(archive, "a size is no octal number");
    value = value * 8 + static_cast<std::uint64_t>(c - '0');
    any = true;
  }
  return value;
}

// A header of 512 bytes before each member, whose bytes are filled up to whole blocks.
Members read_tar(std::string_view bytes, const std::vector<std::string>& wanted, const std::string& archive) {
  Members found;
  for (std::uint64_t at = 0; at < bytes.size();) {
    const std::string_view header = part(bytes, at, kTarBlock, archive);
    if (header.find_first_not_of('\0') == std::string_view::npos) break;
    std::string name = text_field(header.substr(0, 100));
    const bool ustar = header.substr(257, 5) == "ustar";
    if (const std::string prefix = ustar ? text_field(header.substr(345, 155)) : ""; !prefix.empty())
      name = prefix + "/" + name;
    const std::uint64_t size = octal_field(header.substr(124, 12), archive);
    const char type = header[156];
    const std::string_view data = part(bytes, at + kTarBlock, size, archive);
    const bool plain_file = type == '0' || type == '\0';
    if (plain_file && std::find(wanted.begin(), wanted.end(), name) != wanted.end())
      found[name] = std::string(data);
    at += kTarBlock + (size + kTarBlock - 1) / kTarBlock * kTarBlock;
  }
  return found;
}

}  // namespace

Members read_members(const std::filesystem::path& archive, const std::vector<std::string>& members) {
  const std::string name = archive.string();
  std::ifstream file(archive, std::ios::binary);
  std::string start(4, '\0');
  file.read(start.data(), 4);
  Members found = start == kZipLocal || start == kZipEnd ? read_zip(raw_bytes(archive), members, name)
                                                         : read_tar(read_bytes(archive), members, name);
  for (const auto& member : members)
    if (found.count(member) == 0) throw DataError(name + ": holds no file " + member);
  return found;
}

}  // namespace attnlab
