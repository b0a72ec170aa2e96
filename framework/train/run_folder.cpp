#include "train/run_folder.h"

#include <algorithm>
#include <set>

#include "config/error.h"
#include "core/error.h"
#include "train/checkpoint_store.h"
#include "train/durable_file.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> content_of(const fs::path& folder) {
  std::vector<fs::path> content;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename() != "lock") content.push_back(entry.path());
  return content;
}

void move_all(const std::vector<fs::path>& paths, const fs::path& folder) {
  for (const auto& path : paths) fs::rename(path, folder / path.filename());
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw IoError("cannot create folder " + path.string() + ": " + error.message());
}

bool holds_run(const fs::path& folder) {
  const auto holds = [&folder](const char* name) {
    std::error_code error;
    return fs::exists(folder / name, error);
  };
  return holds("config.yaml") && (holds("checkpoints") || holds("environment.json") || holds("config.given"));
}

bool is_temporary(const fs::path& path) { return path.filename().string().rfind(kTemporaryPrefix, 0) == 0; }

// What is there before the first config.yaml: the papers that are written earlier, and the weights of another
// run that a study put there to be scored.
bool is_of_the_beginning(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name == "checkpoints") return fs::is_symlink(path);
  return name == "config.given" || name == "environment.json" || name == "metrics.jsonl" ||
         is_temporary(path);
}

// A run somewhere below `folder`; empty if there is none. Links are removed without what they lead to, and
// under a temporary name is only what was being replaced when that was broken off.
fs::path run_below(const fs::path& folder) {
  for (const fs::path& path : content_of(folder)) {
    std::error_code error;
    if (is_temporary(path) || fs::is_symlink(path, error) || !fs::is_directory(path, error)) continue;
    if (holds_run(path)) return path;
    if (const fs::path deeper = run_below(path); !deeper.empty()) return deeper;
  }
  return {};
}

// A run is made again from its papers; what else a folder holds is not.
void require_replaceable(const fs::path& folder) {
  const auto content = content_of(folder);
  if (!holds_run(folder) && !std::all_of(content.begin(), content.end(), is_of_the_beginning))
    throw ConfigError(
        "error: " + folder.string() +
        " holds something else than a run, which --overwrite would remove: a run has config.yaml with "
        "config.given, environment.json or checkpoints; name another folder with --out");
  if (const fs::path other = run_below(folder); !other.empty())
    throw ConfigError(
        "error: " + folder.string() + " holds another run, " + other.string() +
        ", which --overwrite would remove, too; move it away, or name another folder with --out");
}

}  // namespace

bool finished_status(const std::string& status) { return status == "done" || status == "early_stopped"; }

RunFolder::RunFolder(fs::path path, FolderMode mode) : path_(std::move(path)), mode_(mode) {
  std::error_code error;
  const auto status = fs::status(path_, error);
  if (fs::exists(status) && !fs::is_directory(status))
    throw ConfigError("error: " + path_.string() + " is no folder; name another one with --out");
  if (mode_ == FolderMode::fresh && !content_of(path_).empty())
    throw ConfigError(
        "error: " + path_.string() +
        " holds a run or something else already; say --resume to go on with it, --overwrite to replace it, "
        "or name another folder with --out");
  if (mode_ == FolderMode::overwrite) require_replaceable(path_);
}

bool RunFolder::finished() const {
  const fs::path result = path_ / "result.json";
  if (!fs::exists(result)) return false;
  return finished_status(parse_record(read_small_file(result), result.string()).text("status"));
}

bool RunFolder::has_checkpoint() const { return last_checkpoint(checkpoints()).has_value(); }

std::string RunFolder::resolved_config() const {
  return fs::exists(path_ / "config.yaml") ? read_small_file(path_ / "config.yaml") : std::string();
}

Record RunFolder::environment() const {
  const fs::path file = path_ / "environment.json";
  return fs::exists(file) ? parse_record(read_small_file(file), file.string()) : Record();
}

void RunFolder::begin(const RunPapers& papers) {
  make_folder(path_);
  lock_ = std::make_unique<RunLock>(path_);
  const auto before = content_of(path_);
  if (mode_ == FolderMode::fresh && !before.empty())
    throw IoError(path_.string() + " was taken by another run just now");
  if (mode_ != FolderMode::overwrite) {
    fs::remove(path_ / "result.json");  // of a run that ended before its time
    return write_papers(papers);
  }
  const fs::path aside = temporary_name(path_ / "replaced");
  make_folder(aside);
  try {
    move_all(before, aside);
    write_papers(papers);
  } catch (...) {
    for (const auto& path : content_of(path_)) {
      std::error_code ignored;
      const bool ours = path != aside && fs::exists(aside / path.filename(), ignored);
      if (ours) fs::remove_all(path, ignored);
    }
    move_all(content_of(aside), path_);
    fs::remove(aside);
    throw;
  }
  std::error_code ignored;
  fs::remove_all(aside, ignored);
}

void RunFolder::write_papers(const RunPapers& papers) const {
  const fs::path given = path_ / "config.given";
  make_folder(given);
  // Before config.yaml: whether this run goes on as another one must be known as soon as the old one's is
  // gone.
  write_durably(path_ / "environment.json", to_json_text(papers.environment));
  write_durably(path_ / "config.yaml", papers.config);
  std::set<std::string> names;
  for (const auto& file : papers.given) {
    std::string name = file.filename().string();
    for (int copy = 2; !names.insert(name).second; ++copy)
      name = file.stem().string() + "-" + std::to_string(copy) + file.extension().string();
    write_durably(given / name, read_small_file(file));
  }
  std::string assignments;
  for (const auto& assignment : papers.assignments) assignments += assignment + "\n";
  if (!assignments.empty()) write_durably(given / "set.txt", assignments);
  make_folder(checkpoints());
}

void RunFolder::write_result(const Record& result) const {
  check(result.find("status") != nullptr, "a result needs a status");
  write_durably(path_ / "result.json", to_json_text(result));
}

}  // namespace attnlab
