#include "data/test_names.h"

#include <algorithm>

#include "config/error.h"

namespace attnlab {

std::vector<std::string> names_of_tests(const std::vector<TestFile>& files, const std::string& key) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const TestFile& file = files[i];
    const auto alike = std::count_if(files.begin(), files.end(),
                                     [&file](const TestFile& other) { return other.brief == file.brief; });
    std::string name = alike == 1 ? file.brief : file.whole;
    std::replace(name.begin(), name.end(), '/', '_');
    for (std::size_t j = 0; j < i; ++j)
      if (names[j] == name && files[j].path != file.path)
        throw ConfigError("error: " + key + ": '" + files[j].path + "' and '" + file.path +
                          "' would both be called '" + name + "'");
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace attnlab
