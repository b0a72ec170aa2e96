// Names of test splits that are files of their own: scores and outputs stand under them.
#pragma once

#include <string>
#include <vector>

namespace attnlab {

struct TestFile {
  std::string path;   // as the configuration has it
  std::string brief;  // what the split is called where no other is called so
  std::string whole;  // what it is called otherwise; a slash becomes _
};

// One name a file, in order, so that no split takes the place of another. Throws ConfigError at `key` where
// two files have one name all the same; a file that is given twice may.
std::vector<std::string> names_of_tests(const std::vector<TestFile>& files, const std::string& key);

}  // namespace attnlab
