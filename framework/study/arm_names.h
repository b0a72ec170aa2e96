// Names of the arms of a study: an arm with axes is a family of arms, and its name stands for all of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnlab {

class ArmNames {
 public:
  // An arm, and the name in the file that made it: its own, unless axes made several of that one.
  void add(std::string name, std::string family);

  bool has(std::string_view name) const;
  // The arm of that name, or else the arms of that family; empty: there are none.
  std::vector<std::string> meant_by(std::string_view name) const;
  // "'study.only': no arm has the name 'ful', did you mean 'full'?", for a name that is none.
  std::string unknown(const std::string& key, const std::string& name) const;

 private:
  std::vector<std::string> names_, families_;
};

}  // namespace attnlab
