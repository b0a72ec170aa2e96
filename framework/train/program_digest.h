// What computes, by content: numbers that are kept to be used again are good as long as it stays the same.
#pragma once

#include <filesystem>
#include <string>

namespace attnlab {

// Digest of the sources that do numbers, made when this program was built.
std::string code_digest();

// Counts a module from outside the program (--load) in program_digest(): code_digest() knows nothing of it.
// Throws IoError if the file cannot be read.
void note_loaded_module(const std::filesystem::path& file);

// A digest together with the bytes of the modules noted so far, in whatever order they were; without modules
// it is `digest` itself.
std::string with_modules(const std::string& digest);

// code_digest() with_modules.
std::string program_digest();

}  // namespace attnlab
