// What a probe found, as files: NAME.json with numbers, tables and notes, NAME.npz with its arrays.
#pragma once

#include <filesystem>
#include <limits>
#include <string>

#include "study/probe.h"

namespace attnlab {

// JSON for programs: {"about": …, "numbers": …, "tables": {NAME: {"columns": […], "rows": [[…]]}}, "notes":
// […]}.
std::string to_json_text(const ProbeResult& result, const Record& about);
// The tables and notes, aligned for people; of each table so many rows at most, and how many there are more.
std::string to_text(const ProbeResult& result,
                    std::size_t most_rows = std::numeric_limits<std::size_t>::max());
// Writes both files; no .npz where there are no arrays. Throws IoError.
void write_probe(const std::filesystem::path& folder, const std::string& name, const ProbeResult& result,
                 const Record& about);

}  // namespace attnlab
