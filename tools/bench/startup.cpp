// attnlab bench startup: from the start of the program to the first training step of a configuration, as its
// log shows it.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "bench/measuring.h"
#include "core/affinity.h"
#include "core/error.h"

namespace attnlab {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string config = "configs/quickstart.yaml";
  std::vector<std::string> assignments;
  int repeat = 5;
  bool json = false;
};

// The program in a process group of its own, with its log in a pipe.
class Program {
 public:
  explicit Program(const std::vector<std::string>& arguments) {
    int pipe[2];
    if (::pipe(pipe) != 0) throw Error("cannot make a pipe");
    use_all_processors();
    process_ = ::fork();
    if (process_ < 0) throw Error("cannot start a process");
    if (process_ == 0) become(arguments, pipe[1]);
    ::close(pipe[1]);
    log_ = pipe[0];
  }
  ~Program() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    ::close(log_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Reads the log until a line contains `words`. Throws Error with the log if it ends before.
  void wait_for(const std::string& words) {
    std::string text;
    char piece[4096];
    while (text.find(words) == std::string::npos) {
      const ssize_t count = ::read(log_, piece, sizeof piece);
      if (count <= 0) throw Error("the run ended before its first step:\n" + text);
      text.append(piece, static_cast<std::size_t>(count));
    }
  }

 private:
  [[noreturn]] static void become(std::vector<std::string> arguments, int log) {
    const int nothing = ::open("/dev/null", O_WRONLY);
    ::dup2(nothing, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    ::execv("/proc/self/exe", pointers.data());
    ::_exit(127);
  }

  pid_t process_ = -1;
  int log_ = -1;
};

double seconds_to_first_step(const Options& options, const std::filesystem::path& folder) {
  std::vector<std::string> arguments{"attnlab", "run",  options.config, "--overwrite",
                                     "--out",   folder, "--set",        "train.log_every=1"};
  for (const std::string& assignment : options.assignments) {
    arguments.push_back("--set");
    arguments.push_back(assignment);
  }
  const auto start = Clock::now();
  Program program(arguments);
  program.wait_for("step 1/");
  return std::chrono::duration<double>(Clock::now() - start).count();
}

int run(const Options& options) {
  std::string folder = (std::filesystem::temp_directory_path() / "attnlab-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw Error("cannot make a temporary folder " + folder);
  // The program starts itself again to set up OpenMP (main.cpp); what is measured should do so too.
  ::unsetenv("GOMP_SPINCOUNT");
  std::vector<double> seconds;
  for (int i = 0; i <= options.repeat; ++i)
    seconds.push_back(seconds_to_first_step(options, std::filesystem::path(folder) / std::to_string(i)));
  seconds.erase(seconds.begin());  // it brought program and data into the system's caches
  std::filesystem::remove_all(folder);
  Record row{{"config", options.config}};
  append_times(seconds, row);
  ResultTable(options.json).row(row);
  return 0;
}

const Benchmark benchmark{
    "startup", "start of the program to the first training step", [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option("--config", options->config, "the experiment")->capture_default_str();
      app.add_option("--set", options->assignments, "as for attnlab run");
      app.add_option("--repeat", options->repeat, "starts that are timed, after one that is not")
          ->capture_default_str();
      app.add_flag("--json", options->json, "one JSON object a line");
      return [options] { return run(*options); };
    }};

}  // namespace
}  // namespace attnlab
