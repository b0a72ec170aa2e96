#include "data/files.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/error.h"
#include "data/missing_file.h"
#include "data/utf8.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

struct GzFile {
  explicit GzFile(const fs::path& path) : handle(gzopen(path.c_str(), "rb")) {}
  ~GzFile() {
    if (handle != nullptr) gzclose_r(handle);
  }
  GzFile(const GzFile&) = delete;
  GzFile& operator=(const GzFile&) = delete;
  gzFile handle;
};

// All bytes to the descriptor; false with errno set if it fails.
bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(descriptor) == 0;
}

}  // namespace

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::string read_bytes(const fs::path& path) {
  std::error_code error;
  if (!is_there(path)) throw MissingFileError(path.string() + ": no such file");
  if (!fs::is_regular_file(path, error)) throw DataError(path.string() + ": not a regular file");
  const GzFile file(path);
  if (file.handle == nullptr) throw DataError(path.string() + ": cannot open: " + std::strerror(errno));
  std::string out;
  std::array<char, 1 << 16> buffer;
  for (int count = 1; count > 0;) {
    count = gzread(file.handle, buffer.data(), buffer.size());
    if (count > 0) out.append(buffer.data(), static_cast<std::size_t>(count));
  }
  int code = Z_OK;
  std::string_view message = gzerror(file.handle, &code);
  if (code != Z_OK && code != Z_STREAM_END) {
    const std::string file_name = path.string() + ": ";  // zlib says it, too
    if (message.starts_with(file_name)) message.remove_prefix(file_name.size());
    throw DataError(
        join_text(file_name, "damaged or truncated after ", out.size(), " unpacked bytes: ", message));
  }
  return out;
}

fs::path find_plain_or_gz(const fs::path& path) {
  if (is_there(path)) return path;
  fs::path packed = path;
  packed += ".gz";
  if (is_there(packed)) return packed;
  throw MissingFileError(path.string() + ": no such file, plain or .gz");
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::vector<std::string> read_lines(const fs::path& path) {
  std::vector<std::string> lines = split_lines(read_bytes(path));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (const auto fault = plain_text_fault(lines[i]))
      throw DataError(join_text(path.string(), ":", i + 1, ": ", *fault));
  }
  return lines;
}

void write_file(const fs::path& path, std::string_view bytes) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  std::string temporary = path.string() + ".XXXXXX";
  const int descriptor = ::mkstemp(temporary.data());
  if (descriptor < 0) throw IoError(join_text(path.string(), ": cannot write here: ", std::strerror(errno)));
  const bool written = write_all(descriptor, bytes) && ::fchmod(descriptor, 0644) == 0;
  const int write_error = errno;
  const bool closed = ::close(descriptor) == 0;
  if (!written || !closed || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = written ? errno : write_error;
    ::unlink(temporary.c_str());
    throw IoError(join_text(path.string(), ": writing failed: ", std::strerror(reason)));
  }
}

}  // namespace attnlab
