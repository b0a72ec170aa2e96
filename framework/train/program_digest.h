// What computes, by content: numbers that are kept to be used again are good as long as it stays the same.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace attnlab {

// Digest of the sources that do numbers, made when this program was built.
std::string code_digest();

// A module from outside the program (--load), by content.
struct LoadedModule {
  std::string path;     // as it was named
  std::string content;  // "16072 bytes, crc 3421780262"
  bool operator==(const LoadedModule&) const = default;
};

// Counts a module in program_digest(): code_digest() knows nothing of it. Throws IoError if the file cannot
// be read.
void note_loaded_module(const std::filesystem::path& file);

// Those noted so far, in the order in which they were.
const std::vector<LoadedModule>& noted_modules();

// A digest together with the content of modules, in whatever order they are; without modules it is `digest`
// itself.
std::string with_modules(const std::string& digest,
                         const std::vector<LoadedModule>& modules = noted_modules());

// code_digest() with_modules.
std::string program_digest();

}  // namespace attnlab
