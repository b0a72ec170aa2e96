#include "train/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "core/error.h"

namespace attnlab {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string holder_text() { return "pid " + std::to_string(::getpid()) + "\nhost " + host_name() + "\n"; }

std::string content_of(int descriptor) {
  std::array<char, 512> text{};
  const ssize_t count = ::pread(descriptor, text.data(), text.size(), 0);
  return {text.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
}

std::string in_one_line(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

// For file systems without flock: whether the process that wrote the lock may still live. Another host cannot
// be asked.
bool holder_may_live(const std::string& content) {
  long pid = 0;
  if (std::sscanf(content.c_str(), "pid %ld", &pid) != 1 || pid <= 0) return false;
  if (content.find("host " + host_name() + "\n") == std::string::npos) return true;
  return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH;
}

// The path may have been removed or replaced by a holder that ended between open and flock.
bool still_named(int descriptor, const std::filesystem::path& path) {
  struct stat open_file = {}, named = {};
  return ::fstat(descriptor, &open_file) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open_file.st_ino == named.st_ino && open_file.st_dev == named.st_dev;
}

}  // namespace

RunLock::RunLock(std::filesystem::path folder) : path_(std::move(folder) / "lock") {
  for (;;) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) throw IoError("cannot create " + path_.string() + ": " + std::strerror(errno));
    const bool locked = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
    const int error = errno;
    const std::string content = content_of(descriptor_);
    const bool held = !locked && (error == EWOULDBLOCK || holder_may_live(content));
    if (held) {
      ::close(descriptor_);
      throw IoError(join_text("another run is at work in ", path_.parent_path().string(), " (",
                              in_one_line(content), "); wait for it, or end it"));
    }
    took_over_ = !content.empty();
    if (still_named(descriptor_, path_)) break;
    ::close(descriptor_);
  }
  const std::string text = holder_text();
  if (::ftruncate(descriptor_, 0) != 0 || ::pwrite(descriptor_, text.data(), text.size(), 0) < 0) {
    const std::string why = std::strerror(errno);
    ::close(descriptor_);
    throw IoError("cannot write " + path_.string() + ": " + why);
  }
}

RunLock::~RunLock() {
  ::unlink(path_.c_str());
  ::close(descriptor_);
}

}  // namespace attnlab
