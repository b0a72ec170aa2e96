// A program at work on its own: started with arguments, environment and a file for what it prints, and asked
// now and then whether it has ended.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace attnlab {

class Child {
 public:
  struct Command {
    std::vector<std::string> arguments;                            // the first is the program
    std::vector<std::pair<std::string, std::string>> environment;  // on top of our own
    std::filesystem::path log;                                     // both outputs are appended

    // Gives it so many threads, beside other children: bound, all of theirs would be on the same processors.
    void use_threads(int count);
  };
  // Throws IoError. The child gets SIGTERM when we die, however we die.
  explicit Child(const Command& command);
  ~Child();  // kills it if it still lives
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // The exit code, or 128 + n after signal n; nothing while it lives.
  std::optional<int> ended();
  void ask_to_end() const;  // SIGTERM

  // Of one that has ended: "exit code 3", "signal 9 (Killed)".
  std::string ending() const;
  // The last error that it has logged, if any, with how it ended: "no such file (exit code 3)".
  std::string reason() const;

 private:
  std::filesystem::path log_;
  std::int64_t log_start_ = 0;  // where what it prints begins
  pid_t pid_ = -1;
  std::optional<int> code_;
};

// The program that we are, also when its file has been replaced since.
std::string own_program();

}  // namespace attnlab
