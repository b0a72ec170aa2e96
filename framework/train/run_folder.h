// The folder of a run: config.yaml (resolved), config.given/, environment.json, metrics.jsonl and .csv,
// checkpoints/, result.json, and a lock while it runs.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "train/record.h"
#include "train/run_lock.h"

namespace attnlab {

// Of the `status` in a result.json: whether the run came to its end, by its steps or by early stopping.
bool finished_status(const std::string& status);

enum class FolderMode { fresh, resume, overwrite };

struct RunPapers {
  std::string config;                        // the resolved YAML
  std::vector<std::filesystem::path> given;  // the files as given, copied with their names
  std::vector<std::string> assignments;      // of --set
  Record environment;
};

class RunFolder {
 public:
  // Only looks. Throws ConfigError if it is no folder, if it is in use already and the mode is fresh, or if
  // the mode is overwrite and what would be removed is no run, or more than one.
  RunFolder(std::filesystem::path path, FolderMode mode);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  bool finished() const;  // a run here came to its end
  bool has_checkpoint() const;
  std::string resolved_config() const;  // of the run that was here before; empty if there was none
  Record environment() const;           // the same; throws IoError if it is damaged

  // Takes the lock and writes the papers; with `overwrite` what was there is removed first, and put back if
  // the papers cannot be written. Call it when nothing else can fail any more. Throws IoError.
  void begin(const RunPapers& papers);
  bool took_over_lock() const { return lock_ && lock_->took_over(); }
  // Writes result.json; must hold a `status`. Throws IoError.
  void write_result(const Record& result) const;

 private:
  void write_papers(const RunPapers& papers) const;
  std::filesystem::path path_;
  FolderMode mode_;
  std::unique_ptr<RunLock> lock_;
};

}  // namespace attnlab
