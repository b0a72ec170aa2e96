// Files inside an archive: zip, tar, or tar packed with gzip.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace attnlab {

// The bytes of these members ("folder/name"), by name. Throws DataError for what is no such archive, damaged,
// or lacks one of them.
std::map<std::string, std::string> read_members(const std::filesystem::path& archive,
                                                const std::vector<std::string>& members);

}  // namespace attnlab
