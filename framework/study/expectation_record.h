// When each expectation of a study was first seen, and which results of its arms were known by then, so that
// a verdict can say whether its threshold came first. It lies beside the folders of results, not in them, and
// outlives them.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "study/expectation.h"

namespace attnlab {

class ExpectationRecord {
 public:
  // Joins what the files say that exist; write() writes the first `written` of them. Throws IoError for one
  // that is damaged.
  ExpectationRecord(std::vector<std::filesystem::path> files, std::size_t written);

  // A result that is known from now on. `run` is its content, whatever code made it; empty if unknown.
  void saw(const std::string& arm, std::int64_t seed, const std::string& run);
  // Takes in the claims that are new, and those whose rule is of other code than before. `planned` says
  // whether the study is about to report this content for this arm.
  void note(const std::vector<Claim>& claims,
            const std::function<bool(const std::string& arm, const std::string& run)>& planned);
  void write() const;  // throws IoError

  // "before the run", "before these runs, after others of the same arms" or "after seeing", and whether the
  // code that judges it has changed since results were seen.
  std::string set(const std::string& hash) const;

 private:
  struct Entry {
    std::string claim, hash, rule, set;
    std::int64_t first_seen = 0;
    bool rule_changed = false;
  };
  struct Result {
    std::string arm;
    std::int64_t seed = 0;
    std::string run;
    std::int64_t first_seen = 0;
  };
  void read(const std::filesystem::path& file);
  void add(const Result& result);  // the earlier time counts
  bool any_seen(const Claim& claim, const std::function<bool(const Result&)>& which) const;

  std::vector<std::filesystem::path> files_;
  std::vector<Entry> claims_;
  std::vector<Result> results_;
};

// Of what is expected: its name, kind and values, and what it is measured on and compared with.
std::string hash_of(const Claim& claim, const std::string& metric, const std::string& baseline);
// Of all expectations of a study together.
std::string hash_of_all(const std::vector<Claim>& claims);

}  // namespace attnlab
