// One file from an address, through the curl program (no shell in between).
#pragma once

#include <filesystem>
#include <string>

namespace attnlab {

// Writes the file at `path`, whose folder is made. What is there already is taken as the beginning, and the
// rest is asked for. Throws IoError when curl is missing or fails; the part received so far is then kept.
void download(const std::string& url, const std::filesystem::path& path);

}  // namespace attnlab
