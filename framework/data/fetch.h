// Fetching a known data set into root/NAME: from its public source through the curl program, or from a
// folder. Each file is checked against its SHA-256 and appears in one step; an interrupted download goes on
// where it stopped.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "data/data_set.h"

namespace attnlab {

struct FetchOptions {
  std::filesystem::path root = "data";
  std::filesystem::path from;                        // a folder with the files, plain or .gz; empty: download
  std::function<void(const std::string& line)> say;  // what happens, one line a file; may be empty
};

// Returns the folder. A file that is there and right is kept; one that is there and differs is an error, and
// stays as it is. Throws ConfigError for an unknown name, DataError for wrong or missing files, IoError where
// a download or writing fails.
std::filesystem::path fetch_data_set(const std::string& name, const FetchOptions& options);

// One file of a data set into `folder`; as above.
void fetch_file(const DataSetFile& file, const std::filesystem::path& folder, const FetchOptions& options);

}  // namespace attnlab
