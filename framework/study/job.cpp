#include "study/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <thread>

#include "core/error.h"
#include "train/checkpoint_store.h"
#include "train/durable_file.h"
#include "train/run_lock.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw IoError("cannot create folder " + path.string() + ": " + error.message());
}

bool holds_something(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder, error) && fs::directory_iterator(folder, error) != fs::directory_iterator();
}

// A run that was told to end when its study was killed may still be writing its checkpoint.
void wait_for_lock(const fs::path& folder) {
  for (int tries = 0;; ++tries) {
    try {
      const RunLock lock(folder);
      return;
    } catch (const IoError&) {
      if (tries >= 300) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

// Where links lead to.
bool lies_below(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const fs::path from = fs::canonical(folder, error), to = error ? fs::path() : fs::canonical(path, error);
  if (error) return false;
  const fs::path relative = to.lexically_relative(from);
  return !relative.empty() && *relative.begin() != "..";
}

std::string last_line(const fs::path& file) {
  std::ifstream stream(file, std::ios::ate);
  const auto size = static_cast<std::streamoff>(stream.tellg());
  if (!stream || size <= 0) return "";
  const std::streamoff tail = std::min<std::streamoff>(size, 4096);
  stream.seekg(size - tail);
  std::string text(static_cast<std::size_t>(tail), '\0');
  stream.read(text.data(), tail);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

Record values_in(const fs::path& run) {
  const fs::path file = run / "result.json";
  return fs::exists(file) ? parse_record(read_small_file(file), file.string()) : Record();
}

bool interrupted_code(int code) { return code == 128 + SIGINT || code == 128 + SIGTERM; }

Job::Job(PlannedRun run, const JobOptions& options) : run_(std::move(run)), options_(options) {
  log_ = options_.papers / "logs" / (run_.file + ".txt");
  config_ = options_.papers / "configs" / (run_.file + ".yaml");
  const auto spec = experiment_of(Tree::parse(run_.config, config_.string()));
  if (spec->train.max_steps) total_steps_ = static_cast<double>(*spec->train.max_steps);
  total_epochs_ = static_cast<double>(spec->train.max_epochs);
}

void Job::identify(const Planner& planner) {
  try {
    run_.identity = planner.identity_of_run(run_);
  } catch (const IoError& error) {
    give_up(error.what());
  }
}

void Job::give_up(const std::string& reason) {
  state_ = JobState::failed;
  error_ = reason;
}

void Job::take(const RunResult& kept) {
  state_ = JobState::done;
  found_ = true;
  code_ = kept.code;
  stale_ = kept.code != program_digest();
  kept_ = kept;
  kept_->stale = stale_;
}

bool Job::matches(const RunIdentity& identity) const { return identity.scoring == run_.identity->scoring; }

double Job::seconds() const {
  const auto end = state_ == JobState::running ? Clock::now() : ended_;
  return std::chrono::duration<double>(end - started_).count();
}

const Record& Job::values() const {
  if (!values_) values_ = values_in(run_.folder);
  return *values_;
}

void Job::take_result(const RunIdentity& identity) {
  found_ = true;
  code_ = identity.code;
  stale_ = identity.code != run_.identity->code;
  state_ = finished_run(run_.folder) ? JobState::done : JobState::diverged;
  if (state_ == JobState::diverged) error_ = "diverged";
}

bool Job::look(RunIndex& index) {
  if (!run_.identity) return false;
  if (finished_run(run_.folder) || diverged_run(run_.folder)) {
    const auto identity = identity_of_folder(run_.folder);
    if (identity && matches(*identity)) {
      if (identity->code == run_.identity->code || options_.reuse_stale) {
        take_result(*identity);
        if (state_ == JobState::done) index.remember(*identity, run_.folder);
        return true;
      }
      replaces_stale_ = true;
    }
  }
  const auto other = index.find_scored(*run_.identity, options_.reuse_stale);
  if (!other) return false;
  const auto identity = identity_of_folder(*other);
  if (!identity || !matches(*identity)) return false;
  if (options_.look_only) {
    run_.folder = *other;
    take_result(*identity);
    return true;
  }
  // That one may have nothing but a link to the weights in this one's folder, which is then no place for a
  // link.
  if (lies_below(*other / "checkpoints", run_.folder)) return false;
  make_folder(run_.folder.parent_path());
  if (fs::is_directory(run_.folder) && !fs::is_symlink(run_.folder)) wait_for_lock(run_.folder);
  fs::remove_all(run_.folder);
  point_link(run_.folder, fs::relative(*other, fs::canonical(run_.folder.parent_path())));
  take_result(*identity);
  return true;
}

// Weights in that folder, which are about to be replaced, become its own if it links to them.
void Job::keep_weights_of(const fs::path& folder) const {
  const fs::path link = run_.folder / "checkpoints";
  if (run_.folder != folder && fs::is_symlink(link) && lies_below(link, folder)) own_copy(link);
}

void Job::start(RunIndex& index, const std::list<Job>& all) {
  started_ = ended_ = Clock::now();
  try {
    launch(index, all);
    state_ = JobState::running;
  } catch (const IoError& error) {
    state_ = JobState::failed;
    error_ = error.what();
  } catch (const fs::filesystem_error& error) {
    state_ = JobState::failed;
    error_ = error.what();
  }
}

void Job::launch(RunIndex& index, const std::list<Job>& all) {
  make_folder(log_.parent_path());
  make_folder(config_.parent_path());
  write_durably(config_, run_.config);
  if (fs::is_symlink(run_.folder)) fs::remove(run_.folder);
  make_folder(run_.folder);
  wait_for_lock(run_.folder);
  const auto own = identity_of_folder(run_.folder);
  const bool same = own && own->training == run_.identity->training &&
                    (own->code == run_.identity->code || options_.reuse_stale);
  bool resume = same;
  if (same) {
    // Trained, but scored as another run: a finished one would not be scored again.
    std::error_code ignored;
    if (!matches(*own)) fs::remove(run_.folder / "result.json", ignored);
  } else {
    for (const Job& other : all) other.keep_weights_of(run_.folder);
    // The same weights may exist elsewhere: then only scoring is left to do.
    if (const auto other = index.find_trained(*run_.identity, options_.reuse_stale)) {
      fs::remove_all(run_.folder);
      make_folder(run_.folder);
      const fs::path here = fs::canonical(run_.folder);
      point_link(run_.folder / "checkpoints", fs::relative(fs::canonical(*other / "checkpoints"), here));
      if (fs::exists(*other / "metrics.jsonl"))
        fs::copy_file(*other / "metrics.jsonl", run_.folder / "metrics.jsonl");
      resume = true;
    }
  }
  Child::Command command;
  command.arguments = options_.program;
  for (const std::string& word :
       {std::string("run"), config_.string(), std::string("--out"), run_.folder.string()})
    command.arguments.push_back(word);
  command.arguments.emplace_back(resume || !holds_something(run_.folder) ? "--resume" : "--overwrite");
  if (options_.threads > 0) command.use_threads(options_.threads);
  command.log = log_;
  child_ = std::make_unique<Child>(command);
}

bool Job::poll(RunIndex& index) {
  if (state_ != JobState::running) return false;
  const auto code = child_->ended();
  if (!code) return false;
  ended_ = Clock::now();
  const std::unique_ptr<Child> child = std::move(child_);
  if (*code != 0) {
    fail(*code, *child);
    return true;
  }
  const auto identity = identity_of_folder(run_.folder);
  state_ = JobState::done;
  code_ = identity ? identity->code : "";
  stale_ = code_ != run_.identity->code;
  if (!identity || !finished_run(run_.folder) || !matches(*identity)) {
    state_ = JobState::failed;
    error_ = "its folder does not hold the run that was asked for";
  } else {
    index.remember(*identity, run_.folder);
  }
  return true;
}

void Job::fail(int code, const Child& child) {
  state_ = interrupted_code(code)      ? JobState::stopped
           : diverged_run(run_.folder) ? JobState::diverged
                                       : JobState::failed;
  error_ = state_ == JobState::stopped    ? "interrupted by " + child.ending()
           : state_ == JobState::diverged ? "diverged"
                                          : child.reason();
}

void Job::ask_to_end() const {
  if (child_) child_->ask_to_end();
}

double Job::progress() const {
  if (state_ != JobState::running) return ended() ? 1 : 0;
  try {
    const Record line = parse_record(last_line(run_.folder / "metrics.jsonl"), "metrics");
    const double share =
        total_steps_ > 0 ? line.number("step") / total_steps_ : line.number("epoch") / total_epochs_;
    return std::clamp(share, 0.0, 1.0);
  } catch (const IoError&) {
    return 0;
  }
}

}  // namespace attnlab
