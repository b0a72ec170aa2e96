// Published models on the disk: fetched from a public address, or copied from a folder.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "data/data_set.h"

namespace attnlab {

// A model known by name: where its files are. A file without a checksum is checked by being read.
struct KnownModel {
  std::string name, doc, address;  // files lie under address/NAME
  std::vector<DataSetFile> files;  // `url` is empty where it is address/NAME
};
const std::vector<KnownModel>& known_models();

struct FetchModelOptions {
  std::filesystem::path root = "models";
  std::filesystem::path from;                        // a folder with the files; empty: download
  std::function<void(const std::string& line)> say;  // may be empty
};

// Brings the model into root/NAME and reads its header and config.json. `name` is a known name, or the
// address of a folder (https://…, file://…) whose last part becomes the name; of a hub's
// https://HUB/OWNER/MODEL/resolve/REVISION that is MODEL. Returns the folder, in which source.txt says the
// address. Throws ConfigError for an unknown name and for a folder that is of another address, DataError for
// a file of another checksum, IoError for what is missing or cannot be read.
std::filesystem::path fetch_model(const std::string& name, const FetchModelOptions& options);

}  // namespace attnlab
