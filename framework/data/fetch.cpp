#include "data/fetch.h"

#include <optional>

#include "config/registry.h"
#include "core/error.h"
#include "data/download.h"
#include "data/fetch_archive.h"
#include "data/files.h"
#include "data/sha256.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

// The unpacked bytes of a file if they are the wanted ones.
std::optional<std::string> right_bytes(const fs::path& path, const std::string& sha256) {
  try {
    std::string bytes = read_bytes(path);
    if (sha256_hex(bytes) == sha256) return bytes;
  } catch (const DataError&) {
    // Half a gzip file, for instance.
  }
  return std::nullopt;
}

// Whether the folder has the file already. Throws DataError if it has another of that name.
bool already_there(const DataSetFile& file, const fs::path& folder) {
  for (const fs::path& path : {folder / file.name, folder / (file.name + ".gz")}) {
    if (!is_there(path)) continue;
    if (right_bytes(path, file.sha256)) return true;
    throw DataError(path.string() + ": differs from the published file; move it away and fetch again");
  }
  return false;
}

// From the folder `from`, or from its subfolder with the name of the data set.
std::string copied(const DataSetFile& file, const fs::path& from, const fs::path& folder) {
  const fs::path sub = from / folder.filename();
  const bool in_sub = !is_there(from / file.name) && !is_there(from / (file.name + ".gz")) && is_there(sub);
  const fs::path path = find_plain_or_gz((in_sub ? sub : from) / file.name);
  std::string bytes = read_bytes(path);
  const std::string found = sha256_hex(bytes);
  if (found == file.sha256) return bytes;
  throw DataError(join_text(path.string(), ": unpacked SHA-256 is ", found, ", expected ", file.sha256));
}

std::string downloaded(const DataSetFile& file, const fs::path& partial) {
  // A whole file may lie there from a run that was stopped right after the download.
  if (is_there(partial)) {
    if (auto bytes = right_bytes(partial, file.sha256)) return *bytes;
  }
  download(file.url, partial);
  if (auto bytes = right_bytes(partial, file.sha256)) return *bytes;
  std::error_code ignored;
  fs::remove(partial, ignored);
  throw DataError(join_text(file.url, ": the file does not have the SHA-256 ", file.sha256,
                            " after unpacking; the source has changed, or something on the way replaced it"));
}

}  // namespace

void fetch_file(const DataSetFile& file, const fs::path& folder, const FetchOptions& options) {
  if (!file.member.empty()) return fetch_members({file}, folder, options);
  const auto say = [&options, &file](const char* what) {
    if (options.say) options.say(file.name + ": " + what);
  };
  if (already_there(file, folder)) return say("already there");
  std::string partial_name = file.name;
  partial_name += ".partial";
  const fs::path partial = folder / partial_name;
  const bool copy = !options.from.empty();
  const std::string bytes = copy ? copied(file, options.from, folder) : downloaded(file, partial);
  write_file(folder / file.name, bytes);
  std::error_code ignored;
  fs::remove(partial, ignored);
  say(copy ? "copied" : "downloaded");
}

fs::path fetch_data_set(const std::string& name, const FetchOptions& options) {
  const std::shared_ptr<DataSet> set = Registry<DataSet>::make(name);
  const fs::path folder = options.root / name;
  std::vector<DataSetFile> together;  // neighbours in one archive
  for (const DataSetFile& file : set->files()) {
    if (!together.empty() && together.front().url != file.url) {
      fetch_members(together, folder, options);
      together.clear();
    }
    if (file.member.empty())
      fetch_file(file, folder, options);
    else
      together.push_back(file);
  }
  if (!together.empty()) fetch_members(together, folder, options);
  return folder;
}

}  // namespace attnlab
