#include "data/test_names.h"

#include <algorithm>

#include "config/error.h"

namespace attnlab {

std::vector<std::string> names_of_tests(
    const std::vector<std::string>& files, const std::string& key,
    const std::function<TestName(const std::filesystem::path&)>& name_of) {
  std::vector<TestName> all;
  for (const std::string& file : files) all.push_back(name_of(file));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const TestName& own = all[i];
    const auto alike = std::count_if(all.begin(), all.end(),
                                     [&own](const TestName& other) { return other.brief == own.brief; });
    std::string name = alike == 1 ? own.brief : own.whole;
    std::replace(name.begin(), name.end(), '/', '_');
    for (std::size_t j = 0; j < i; ++j)
      if (names[j] == name && files[j] != files[i])
        throw ConfigError("error: " + key + ": '" + files[j] + "' and '" + files[i] +
                          "' would both be called '" + name + "'");
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace attnlab
