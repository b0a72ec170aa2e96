// Whole files, plain or gzip, and writing in one step: a reader never sees half a file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace attnlab {

// Whether something is at the path; what cannot be asked for is not there.
bool is_there(const std::filesystem::path& path);

// The bytes of a file, unpacked if it is gzip. Throws DataError if it is missing, unreadable or damaged.
std::string read_bytes(const std::filesystem::path& path);

// `path` itself, or `path` + ".gz" if only that exists. Throws DataError if neither does.
std::filesystem::path find_plain_or_gz(const std::filesystem::path& path);

// Lines split at \n alone (U+2028 and its like are content), a last line without \n included. Throws
// DataError with file and line for NUL bytes and invalid UTF-8.
std::vector<std::string> read_lines(const std::filesystem::path& path);

// Splits text at \n as read_lines does, without checks.
std::vector<std::string> split_lines(std::string_view text);

// Writes to a temporary name beside `path`, then renames; makes the folders above. Throws IoError; what stood
// at `path` before is then still there.
void write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace attnlab
