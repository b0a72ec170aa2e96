#include "train/environment.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>

#include "core/parallel.h"
#include "kernels/cpu.h"
#include "train/other_code.h"

namespace attnlab {
namespace {

// What a command prints, without the last newline; empty if it fails.
std::string output_of(const char* command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command, "r"), ::pclose);
  if (!pipe) return "";
  std::string text;
  std::array<char, 256> piece{};
  while (std::fgets(piece.data(), piece.size(), pipe.get()) != nullptr) text += piece.data();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::array<char, 32> text{};
  std::tm broken_down{};
  ::gmtime_r(&now, &broken_down);
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &broken_down);
  return text.data();
}

}  // namespace

Record environment_record() {
  Record record;
  record.set("started", now_text());
  std::array<char, 256> host{};
  record.set("host", std::string(::gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "unknown"));
  utsname system{};
  if (::uname(&system) == 0)
    record.set("system", std::string(system.sysname) + " " + system.release + " " + system.machine);
  record.set("compiler", std::string(__VERSION__));
  record.set("onednn", kernels::onednn_version());
  record.set("cpu", kernels::cpu_name());
  record.set("isa", kernels::isa_name());
  record.set("native_bf16", kernels::has_native_bf16());
  record.set("processors", static_cast<std::int64_t>(::sysconf(_SC_NPROCESSORS_ONLN)));
  record.set("threads", static_cast<std::int64_t>(thread_count()));
  for (const char* name : {"OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_WAIT_POLICY", "ONEDNN_MAX_CPU_ISA"})
    if (const char* value = std::getenv(name)) record.set(name, std::string(value));
  const std::string commit = output_of("git rev-parse HEAD 2>/dev/null");
  if (!commit.empty()) {
    record.set("git_commit", commit);
    record.set("git_changed_files", static_cast<std::int64_t>(std::atoll(
                                        output_of("git status --porcelain 2>/dev/null | wc -l").c_str())));
  }
  record.append(module_record());
  return record;
}

std::int64_t peak_memory_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace attnlab
