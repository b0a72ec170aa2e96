// When each expectation of a study was first seen, and whether results were there by then: a file beside the
// results, so that a verdict can say that its threshold came first.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "study/expectation.h"

namespace attnlab {

class ExpectationRecord {
 public:
  explicit ExpectationRecord(std::filesystem::path file) : file_(std::move(file)) {}
  // Adds the claims that are new. `too_late` says whether a claim's results exist already. Throws IoError.
  void note(const std::vector<Claim>& claims, const std::function<bool(const Claim&)>& too_late);
  // False for what was never noted.
  bool set_before(const std::string& hash) const;

 private:
  std::filesystem::path file_;
  std::map<std::string, bool> set_before_;  // by the hash of the claim
};

// Of all expectations of a study together.
std::string hash_of_all(const std::vector<Claim>& claims);

}  // namespace attnlab
