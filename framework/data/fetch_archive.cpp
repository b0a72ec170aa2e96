#include "data/fetch_archive.h"

#include <fstream>

#include "core/error.h"
#include "data/archive.h"
#include "data/download.h"
#include "data/files.h"
#include "data/sha256.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

// The SHA-256 of a file as it lies there, packed or not.
std::string sha256_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  Sha256 hash;
  std::string piece(1 << 20, '\0');
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0)
    hash.add(std::string_view(piece).substr(0, static_cast<std::size_t>(file.gcount())));
  return hash.hex();
}

// Throws unless these are the published bytes, as far as is known of them.
void require_published(const DataSetFile& file, const std::string& bytes, const std::string& where) {
  if (!file.sha256.empty()) {
    if (const std::string found = sha256_hex(bytes); found != file.sha256)
      throw DataError(join_text(where, ": unpacked SHA-256 is ", found, ", expected ", file.sha256));
  } else if (static_cast<std::int64_t>(bytes.size()) != file.bytes) {
    throw DataError(join_text(where, ": ", bytes.size(), " bytes unpacked, expected ", file.bytes));
  }
}

class Members {
 public:
  Members(const std::vector<DataSetFile>& files, const fs::path& folder, const FetchOptions& options)
      : files_(files), folder_(folder), options_(options) {}

  void bring() {
    for (const DataSetFile& file : files_) {
      if (already_there(file))
        say(file, "already there");
      else if (!copied_plain(file))
        missing_.push_back(file);
    }
    if (missing_.empty()) return;
    const bool copy = !options_.from.empty();
    const fs::path archive = copy ? archive_in_source() : downloaded();
    std::vector<std::string> names;
    for (const DataSetFile& file : missing_) names.push_back(file.member);
    const auto members = read_members(archive, names);
    for (const DataSetFile& file : missing_) {
      const std::string& bytes = members.at(file.member);
      require_published(file, bytes, archive.string() + ": " + file.member);
      write_file(folder_ / file.name, bytes);
      say(file, "unpacked");
    }
    std::error_code ignored;
    if (!copy) fs::remove(archive, ignored);
  }

 private:
  void say(const DataSetFile& file, const char* what) const {
    if (options_.say) options_.say(file.name + ": " + what);
  }

  bool already_there(const DataSetFile& file) const {
    for (const fs::path& path : {folder_ / file.name, folder_ / (file.name + ".gz")}) {
      if (!is_there(path)) continue;
      try {
        require_published(file, read_bytes(path), path.string());
      } catch (const DataError& error) {
        throw DataError(std::string(error.what()) + "; move it away and fetch again");
      }
      return true;
    }
    return false;
  }

  // The folder `from`, or its subfolder with the name of the data set where only that has the file.
  fs::path in_source(const std::string& name) const {
    const fs::path sub = options_.from / folder_.filename() / name;
    return !is_there(options_.from / name) && is_there(sub) ? sub : options_.from / name;
  }

  bool copied_plain(const DataSetFile& file) const {
    if (options_.from.empty()) return false;
    for (const char* ending : {"", ".gz"}) {
      const fs::path path = in_source(file.name + ending);
      if (!is_there(path)) continue;
      const std::string bytes = read_bytes(path);
      require_published(file, bytes, path.string());
      write_file(folder_ / file.name, bytes);
      say(file, file.sha256.empty() ? "copied; of its contents only the size could be checked" : "copied");
      return true;
    }
    return false;
  }

  std::string archive_name() const {
    const std::string& url = files_.front().url;
    return url.substr(url.rfind('/') + 1);
  }

  bool is_right(const fs::path& archive) const {
    const std::string& sha256 = files_.front().archive_sha256;
    return sha256.empty() || sha256_of_file(archive) == sha256;
  }

  fs::path archive_in_source() const {
    const fs::path path = in_source(archive_name());
    if (!is_there(path))
      throw DataError(join_text(options_.from.string(), ": neither ", missing_.front().name, " nor ",
                                archive_name(), " there"));
    if (!is_right(path))
      throw DataError(join_text(path.string(), ": SHA-256 is ", sha256_of_file(path), ", expected ",
                                files_.front().archive_sha256));
    return path;
  }

  fs::path downloaded() const {
    const std::string& url = files_.front().url;
    const fs::path partial = folder_ / (archive_name() + ".partial");
    const bool known = !files_.front().archive_sha256.empty();
    if (known && is_there(partial) && is_right(partial)) return partial;
    download(url, partial);
    if (is_right(partial)) return partial;
    std::error_code ignored;
    fs::remove(partial, ignored);
    throw DataError(join_text(url, ": the archive does not have the SHA-256 ", files_.front().archive_sha256,
                              "; the source has changed, or something on the way replaced it"));
  }

  const std::vector<DataSetFile>& files_;
  const fs::path& folder_;
  const FetchOptions& options_;
  std::vector<DataSetFile> missing_;
};

}  // namespace

void fetch_members(const std::vector<DataSetFile>& files, const fs::path& folder,
                   const FetchOptions& options) {
  Members(files, folder, options).bring();
}

}  // namespace attnlab
