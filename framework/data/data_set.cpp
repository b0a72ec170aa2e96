#include "data/data_set.h"

#include "config/registry.h"
#include "core/error.h"
#include "data/files.h"
#include "data/missing_file.h"

namespace attnlab {

namespace fs = std::filesystem;

fs::path find_data_file(const fs::path& root, const std::string& folder, const std::string& name) {
  try {
    return find_plain_or_gz(root / folder / name);
  } catch (const MissingFileError& error) {
    for (const auto& known : Registry<DataSet>::list()) {
      if (known.name != folder) continue;
      throw MissingFileError(join_text(error.what(), "\nget this data set with: attnlab data get ", folder));
    }
    throw;
  }
}

fs::path expected_data_file(const fs::path& root, const std::string& folder, const std::string& name) {
  try {
    return find_plain_or_gz(root / folder / name);
  } catch (const DataError&) {
    return root / folder / name;
  }
}

}  // namespace attnlab
