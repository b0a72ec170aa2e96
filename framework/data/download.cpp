#include "data/download.h"

#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "core/error.h"

extern char** environ;

namespace attnlab {
namespace {

// Exit codes of curl.
constexpr int kNoSuchHost = 6, kHttpError = 22, kNoRange = 33, kBadResume = 36;

// Runs curl and returns its exit code.
int run_curl(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  std::string program = "curl";
  argv.push_back(program.data());
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, program.c_str(), nullptr, nullptr, argv.data(), environ);
  if (error == ENOENT) throw IoError("curl is not installed; install it, or use --from with a folder");
  if (error != 0) throw IoError(join_text("cannot start curl: ", std::strerror(error)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw IoError(join_text("waiting for curl failed: ", std::strerror(errno)));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string reason(int code) {
  const std::string from = "; where the files lie in a folder: --from FOLDER)";
  if (code == kNoSuchHost) return " (the host was not found: no network?" + from;
  if (code == kHttpError) return " (the server refused)";
  return (code == 127 ? " (curl is not installed" : " (see above") + from;
}

}  // namespace

void download(const std::string& url, const std::filesystem::path& path) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  const auto fetch_into = [&url](const std::filesystem::path& into) {
    return run_curl({"--fail", "--silent", "--show-error", "--location", "--retry", "3", "--connect-timeout",
                     "20", "--continue-at", "-", "--output", into.string(), url});
  };
  int code = fetch_into(path);
  const bool had_part = std::filesystem::exists(path, error);
  if (had_part && (code == kNoRange || code == kBadResume || code == kHttpError)) {
    // The server cannot continue, or the part is longer than the file: from the start, once. The part stays
    // until there is something better.
    std::filesystem::path again = path;
    again += ".again";
    code = fetch_into(again);
    if (code == 0) std::filesystem::rename(again, path);
  }
  if (code != 0) throw IoError(join_text(url, ": curl failed with code ", code, reason(code)));
}

}  // namespace attnlab
