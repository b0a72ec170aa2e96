#include "train/durable_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "core/error.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

std::string reason() { return std::strerror(errno); }

std::uint32_t add_to_crc(std::uint32_t crc, const void* bytes, std::size_t count) {
  return static_cast<std::uint32_t>(crc32_z(crc, static_cast<const Bytef*>(bytes), count));
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

fs::path temporary_name(const fs::path& path) {
  const std::string name =
      std::string(kTemporaryPrefix) + path.filename().string() + "-" + std::to_string(::getpid());
  return folder_of(path) / name;
}

DurableFile::DurableFile(fs::path path) : path_(std::move(path)), temporary_(temporary_name(path_)) {
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("create");
}

DurableFile::~DurableFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void DurableFile::fail(const char* what) const {
  throw IoError(join_text("cannot ", what, " ", path_.string(), ": ", reason()));
}

void DurableFile::write(const void* bytes, std::size_t count) {
  const char* from = static_cast<const char*>(bytes);
  for (std::size_t left = count; left > 0;) {
    const ssize_t written = ::write(descriptor_, from, std::min(left, std::size_t{1} << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write");
    from += written;
    left -= static_cast<std::size_t>(written);
  }
  digest_.crc32 = add_to_crc(digest_.crc32, bytes, count);
  digest_.bytes += count;
}

void DurableFile::commit() {
  if (::fsync(descriptor_) != 0) fail("write");
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail("write");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("replace");
  temporary_.clear();
  sync_folder(folder_of(path_));
}

FileDigest write_durably(const fs::path& path, std::string_view bytes) {
  DurableFile file(path);
  file.write(bytes.data(), bytes.size());
  file.commit();
  return file.digest();
}

FileDigest digest_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw IoError("cannot read " + path.string() + ": " + reason());
  FileDigest digest;
  std::vector<char> piece(std::size_t{1} << 20);
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    const auto count = static_cast<std::size_t>(in.gcount());
    digest.crc32 = add_to_crc(digest.crc32, piece.data(), count);
    digest.bytes += count;
  }
  if (in.bad()) throw IoError("cannot read " + path.string());
  return digest;
}

std::string read_small_file(const fs::path& path, std::uint64_t limit) {
  std::error_code error;
  std::ifstream in;
  if (fs::is_regular_file(path, error)) in.open(path, std::ios::binary);  // a pipe would be waited for
  if (!in.is_open()) throw IoError("cannot read " + path.string() + ": no such file, or not readable");
  std::string bytes;
  std::vector<char> piece(std::size_t{1} << 16);
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    bytes.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    if (bytes.size() > limit)
      throw IoError(
          join_text(path.string(), " has more than the ", limit, " bytes that are expected at most"));
  }
  return bytes;
}

void sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw IoError("cannot open folder " + folder.string() + ": " + reason());
  const int synced = ::fsync(descriptor);
  const int error = errno;
  ::close(descriptor);
  // Some file systems cannot sync a folder and say so with EINVAL; there is nothing more to be done there.
  if (synced != 0 && error != EINVAL)
    throw IoError("cannot sync folder " + folder.string() + ": " + std::strerror(error));
}

void point_link(const fs::path& link, const fs::path& target) {
  const fs::path temporary = temporary_name(link);
  ::unlink(temporary.c_str());
  if (::symlink(target.c_str(), temporary.c_str()) != 0 || ::rename(temporary.c_str(), link.c_str()) != 0) {
    const std::string why = reason();
    ::unlink(temporary.c_str());
    throw IoError("cannot make the link " + link.string() + ": " + why);
  }
  sync_folder(folder_of(link));
}

}  // namespace attnlab
