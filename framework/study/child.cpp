#include "study/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include "core/affinity.h"
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

// The last line with an error in a log, from some place on; empty if there is none.
std::string last_error_in(const std::filesystem::path& log, std::int64_t from) {
  std::ifstream stream(log);
  stream.seekg(from);
  std::string line, error;
  while (std::getline(stream, line))
    if (line.find("error: ") != std::string::npos) error = line;
  return error.substr(error.starts_with("error: ") ? 7 : 0);
}

}  // namespace

void Child::Command::use_threads(int count) {
  environment.emplace_back("OMP_NUM_THREADS", std::to_string(count));
  environment.emplace_back("OMP_PROC_BIND", "false");
}

Child::Child(const Command& command) : log_(command.log) {
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = environment_with(command.environment);
  const std::vector<char*> argument_pointers = pointers_to(arguments);
  const std::vector<char*> environment_pointers = pointers_to(environment);
  const int log = ::open(command.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (log < 0 || nothing < 0)
    throw IoError("cannot open " + command.log.string() + ": " + std::strerror(errno));
  log_start_ = std::max<std::int64_t>(0, ::lseek(log, 0, SEEK_END));
  use_all_processors();
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

std::string Child::ending() const {
  const int code = code_.value_or(0), number = code - 128;
  if (number <= 0 || number >= NSIG) return join_text("exit code ", code);
  return join_text("signal ", number, " (", ::strsignal(number), ")");
}

std::string Child::reason() const {
  const std::string error = last_error_in(log_, log_start_);
  return error.empty() ? ending() : error + " (" + ending() + ")";
}

std::string own_program() {
  // The link works for a replaced file only through /proc, not by the name that it shows.
  return "/proc/" + std::to_string(::getpid()) + "/exe";
}

}  // namespace attnlab
