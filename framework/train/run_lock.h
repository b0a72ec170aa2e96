// One run at a time in a folder: a file `lock` with the process and host that hold it, locked with flock, so
// that it is free again when its holder dies, however it dies.
#pragma once

#include <filesystem>

namespace attnlab {

class RunLock {
 public:
  // Takes the lock in `folder`, which must exist; a stale one is taken over. Throws IoError if a live run
  // holds it.
  explicit RunLock(std::filesystem::path folder);
  ~RunLock();  // removes the file
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  bool took_over() const { return took_over_; }  // a run before ended without removing it

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  bool took_over_ = false;
};

}  // namespace attnlab
