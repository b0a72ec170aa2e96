// Names of test splits that are files of their own: scores and outputs stand under them.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace attnlab {

struct TestName {
  std::string brief;  // what the split is called where no other is called so
  std::string whole;  // what it is called otherwise; a slash becomes _
};

// One name a file, in order, so that no split takes the place of another. `files` are as the configuration
// has them, `name_of` says what one may be called. Throws ConfigError at `key` where two files have one name
// all the same; a file that is given twice may.
std::vector<std::string> names_of_tests(const std::vector<std::string>& files, const std::string& key,
                                        const std::function<TestName(const std::filesystem::path&)>& name_of);

}  // namespace attnlab
