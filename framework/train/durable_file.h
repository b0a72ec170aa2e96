// Writing files so that a crash, a full disk or a kill leaves the old file or the new one, never half of one:
// bytes go to a temporary name in the same folder, are synced to the disk, and then renamed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace attnlab {

// What a file should hold: its size and the CRC-32 (zlib's) of its bytes.
struct FileDigest {
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;
  bool operator==(const FileDigest&) const = default;
};

class DurableFile {
 public:
  // Opens a temporary beside `path`. Throws IoError.
  explicit DurableFile(std::filesystem::path path);
  ~DurableFile();  // removes the temporary unless committed
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  void write(const void* bytes, std::size_t count);  // throws IoError (disk full, size limit, …)
  void commit();                                     // syncs, renames, syncs the folder; throws IoError
  const FileDigest& digest() const { return digest_; }

 private:
  void fail(const char* what) const;
  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
  FileDigest digest_;
};

// One text in one step. Throws IoError; what stood at `path` before is then still there.
FileDigest write_durably(const std::filesystem::path& path, std::string_view bytes);

// The digest of a file as it is now. Throws IoError if it cannot be read.
FileDigest digest_of(const std::filesystem::path& path);

// The bytes of a small file. Throws IoError if it is missing, or larger than `limit` bytes.
std::string read_small_file(const std::filesystem::path& path, std::uint64_t limit = 64U << 20);

// Makes sure that names created, renamed or removed in a folder are on the disk. Throws IoError.
void sync_folder(const std::filesystem::path& folder);

// Makes `link` a symbolic link to `target` (relative to the link), replacing an old link in one step. Throws
// IoError.
void point_link(const std::filesystem::path& link, const std::filesystem::path& target);

// Temporary names begin with this, so that what a killed run left can be found.
inline constexpr std::string_view kTemporaryPrefix = ".tmp-";
// The temporary name of this process for `path`, in the same folder.
std::filesystem::path temporary_name(const std::filesystem::path& path);

}  // namespace attnlab
