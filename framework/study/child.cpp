#include "study/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "core/error.h"

extern char** environ;

namespace attnlab {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    bool replaced = false;
    for (const auto& [name, value] : more) replaced = replaced || text.starts_with(name + "=");
    if (!replaced) result.push_back(text);
  }
  for (const auto& [name, value] : more) result.push_back(name + "=" + value);
  return result;
}

}  // namespace

Child::Child(const Command& command) {
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = environment_with(command.environment);
  const std::vector<char*> argument_pointers = pointers_to(arguments);
  const std::vector<char*> environment_pointers = pointers_to(environment);
  const int log = ::open(command.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (log < 0 || nothing < 0)
    throw IoError("cannot open " + command.log.string() + ": " + std::strerror(errno));
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {    // only calls that are safe between fork and exec
    ::setpgid(0, 0);  // Ctrl-C reaches us only, and we pass it on
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(127);
    ::dup2(nothing, 0);
    ::dup2(log, 1);
    ::dup2(log, 2);
    ::execve(argument_pointers[0], argument_pointers.data(), environment_pointers.data());
    ::_exit(127);
  }
  const int error = errno;
  ::close(log);
  ::close(nothing);
  if (pid_ < 0) throw IoError(std::string("cannot start a process: ") + std::strerror(error));
}

Child::~Child() {
  if (pid_ <= 0 || code_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::optional<int> Child::ended() {
  if (code_) return code_;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) == pid_)
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return code_;
}

void Child::ask_to_end() const {
  if (!code_) ::kill(pid_, SIGTERM);
}

std::string own_program() {
  // The link works for a replaced file only through /proc, not by the name that it shows.
  return "/proc/" + std::to_string(::getpid()) + "/exe";
}

}  // namespace attnlab
