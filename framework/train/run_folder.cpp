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

}  // namespace

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
}

bool RunFolder::finished() const {
  const fs::path result = path_ / "result.json";
  if (!fs::exists(result)) return false;
  const Record record = parse_record(read_small_file(result), result.string());
  const RecordValue* status = record.find("status");
  return status != nullptr && (*status == RecordValue(std::string("done")) ||
                               *status == RecordValue(std::string("early_stopped")));
}

bool RunFolder::has_checkpoint() const { return last_checkpoint(checkpoints()).has_value(); }

std::string RunFolder::resolved_config() const {
  return fs::exists(path_ / "config.yaml") ? read_small_file(path_ / "config.yaml") : std::string();
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
  write_durably(path_ / "environment.json", to_json_text(papers.environment));
  make_folder(checkpoints());
}

void RunFolder::write_result(const Record& result) const {
  check(result.find("status") != nullptr, "a result needs a status");
  write_durably(path_ / "result.json", to_json_text(result));
}

}  // namespace attnlab
