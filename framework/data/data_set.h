// Known public data sets: where their files come from and what they must hold. One .cpp a data set registers
// it; `attnlab data get NAME` fetches it into data.root/NAME.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace attnlab {

struct DataSetFile {
  std::string name;    // as it lies in the folder: "train.en"
  std::string url;     // may end in .gz: it is unpacked
  std::string sha256;  // of the unpacked bytes; empty where an archive vouches for its members
  // Of a file inside an archive (.zip, .tar.gz), which `url` then is:
  std::string member = {};          // its path there
  std::string archive_sha256 = {};  // of the archive as it is downloaded; may be empty if sha256 is not
  std::int64_t bytes = 0;           // of the unpacked file, where sha256 is empty
};

struct DataSet {
  static constexpr const char* kRegistry = "data_set";
  virtual ~DataSet() = default;
  virtual std::vector<DataSetFile> files() const = 0;
  virtual std::string licence() const = 0;
  virtual std::string source() const = 0;  // what to cite: authors, title, venue, year
};

// root/folder/name, plain or .gz. Throws DataError if it is missing; the message says how to get it where
// `folder` is a known data set.
std::filesystem::path find_data_file(const std::filesystem::path& root, const std::string& folder,
                                     const std::string& name);
// The same, but a missing file is named all the same, without .gz.
std::filesystem::path expected_data_file(const std::filesystem::path& root, const std::string& folder,
                                         const std::string& name);

}  // namespace attnlab
