#include "study/probe_job.h"

#include <fmt/format.h>

#include "core/error.h"
#include "data/sha256.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw IoError("cannot create folder " + path.string() + ": " + error.message());
}

}  // namespace

ProbeJob::ProbeJob(const Job& job, const ProbeUse& use, const Study& study, const JobOptions& options)
    : use_(use), options_(options), arm_(job.run().arm), seed_(job.run().seed), run_(job.run().folder) {
  const std::string file = study.arms[arm_].name + fmt::format(".seed-{}", seed_);
  folder_ = options.papers / "probes" / file / use.name;
  log_ = options.papers / "logs" / (file + "." + use.name + ".txt");
  name_ = use.name + " of " + job.name();
  content_ = sha256_hex(job.run().identity->scoring + use.key());
  if (is_of(folder_, content_, probe_digest(), options.reuse_stale)) state_ = JobState::done;
}

void ProbeJob::start() {
  make_folder(log_.parent_path());
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  make_folder(folder_);
  Child::Command command;
  command.arguments = options_.program;
  for (const std::string& word : {std::string("probe"), run_.string()}) command.arguments.push_back(word);
  for (const std::string& word : use_.arguments(folder_)) command.arguments.push_back(word);
  if (options_.threads > 0) command.use_threads(options_.threads);
  command.log = log_;
  child_ = std::make_unique<Child>(command);
  state_ = JobState::running;
}

bool ProbeJob::poll() {
  if (state_ != JobState::running) return false;
  const auto code = child_->ended();
  if (!code) return false;
  const std::unique_ptr<Child> child = std::move(child_);
  if (*code == 0) {
    note_content(folder_, content_, probe_digest());
    state_ = JobState::done;
  } else {
    state_ = interrupted_code(*code) ? JobState::stopped : JobState::failed;
    error_ =
        name_ + ": " + (state_ == JobState::stopped ? "interrupted by " + child->ending() : child->reason());
  }
  return true;
}

void ProbeJob::ask_to_end() const {
  if (child_) child_->ask_to_end();
}

const Record& ProbeJob::numbers() const {
  if (state_ == JobState::done && numbers_.fields().empty())
    numbers_.append(probe_numbers(use_, folder_), use_.name + ".");
  return numbers_;
}

}  // namespace attnlab
