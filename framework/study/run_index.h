// Finished runs by content, across studies: runs/by-content/KEY is a link to a run folder. A link whose
// folder is gone or has other content says nothing.
#pragma once

#include <filesystem>
#include <optional>

#include "study/identity.h"

namespace attnlab {

class RunIndex {
 public:
  explicit RunIndex(const std::filesystem::path& root) : folder_(root / "by-content") {}
  // The folder of a finished run with the same scores, or the same weights, made by this code or, if
  // `any_code`, by any.
  std::optional<std::filesystem::path> find_scored(const RunIdentity& wanted, bool any_code) const;
  std::optional<std::filesystem::path> find_trained(const RunIdentity& wanted, bool any_code) const;
  // Throws IoError.
  void remember(const RunIdentity& identity, const std::filesystem::path& run);

 private:
  std::filesystem::path folder_;
};

// Whether the run in a folder came to its end: done or early stopped.
bool finished_run(const std::filesystem::path& folder);
// Whether it ended in numbers that were not finite: the same run would do so again.
bool diverged_run(const std::filesystem::path& folder);

}  // namespace attnlab
