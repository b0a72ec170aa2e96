#include "train/checkpoint_store.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace attnlab {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kPrefix = "step-";

// The N of step-N; nothing for other names.
std::optional<Index> step_of(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.rfind(kPrefix, 0) != 0) return {};
  const char *first = name.data() + kPrefix.size(), *last = name.data() + name.size();
  Index step = 0;
  const auto [end, error] = std::from_chars(first, last, step);
  if (error != std::errc() || end != last || step < 0) return {};
  return step;
}

nlohmann::json state_in(const fs::path& folder) {
  return nlohmann::json::parse(read_small_file(folder / "state.json"), nullptr, false);
}

// The score that a checkpoint was saved with, without reading its tensors.
std::optional<double> score_in(const fs::path& folder) {
  const auto json = state_in(folder);
  if (!json.is_object() || !json.contains("score") || !json["score"].is_number()) return {};
  return json["score"].get<double>();
}

// Those from before there was such a mark count as the schedule's.
bool saved_off_schedule(const fs::path& folder) {
  const auto json = state_in(folder);
  return json.is_object() && json.contains("regular") && json["regular"] == false;
}

}  // namespace

std::vector<fs::path> checkpoints_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (step_of(entry.path()) && !entry.is_symlink() && fs::exists(entry.path() / "state.json"))
      found.push_back(entry.path());
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return *step_of(a) < *step_of(b); });
  return found;
}

std::vector<fs::path> scheduled_checkpoints_in(const fs::path& folder) {
  std::vector<fs::path> found = checkpoints_in(folder);
  std::erase_if(found, saved_off_schedule);
  return found;
}

std::optional<fs::path> last_checkpoint(const fs::path& folder) {
  const auto all = checkpoints_in(folder);
  return all.empty() ? std::nullopt : std::optional(all.back());
}

std::optional<fs::path> best_checkpoint(const fs::path& folder) {
  std::error_code error;
  const fs::path target = fs::read_symlink(folder / "best", error);
  if (error || !fs::exists(folder / target / "state.json")) return {};
  return folder / target;
}

SoundCheckpoint last_sound_checkpoint(const fs::path& folder) {
  SoundCheckpoint result;
  auto all = checkpoints_in(folder);
  for (; !all.empty(); all.pop_back()) {
    try {
      result.checkpoint.emplace(all.back());
      return result;
    } catch (const IoError& error) {
      result.damaged.push_back(all.back());
      result.problems.emplace_back(error.what());
    }
  }
  if (!result.problems.empty()) throw IoError(result.problems.front());
  return result;
}

void set_aside(const fs::path& checkpoint) {
  const fs::path aside = checkpoint.parent_path() / ("damaged-" + checkpoint.filename().string());
  std::error_code error;
  fs::remove_all(aside, error);
  fs::rename(checkpoint, aside, error);
  if (error) throw IoError("cannot rename " + checkpoint.string() + ": " + error.message());
}

void own_copy(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_symlink(folder, error)) return;
  const fs::path copy = temporary_name(folder);
  fs::remove_all(copy, error);
  fs::copy(fs::canonical(folder, error), copy, fs::copy_options::recursive | fs::copy_options::copy_symlinks,
           error);
  if (!error) fs::remove(folder, error);
  if (!error) fs::rename(copy, folder, error);
  if (error) throw IoError("cannot copy what " + folder.string() + " leads to: " + error.message());
}

CheckpointStore::CheckpointStore(fs::path folder, const Retention& retention)
    : folder_(std::move(folder)), retention_(retention) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw IoError("cannot create folder " + folder_.string() + ": " + error.message());
  if (fs::is_symlink(folder_)) return;
  std::vector<fs::path> left_over;
  for (const auto& entry : fs::directory_iterator(folder_))
    if (entry.path().filename().string().rfind(kTemporaryPrefix, 0) == 0) left_over.push_back(entry.path());
  for (const auto& path : left_over) fs::remove_all(path, error);
  point_and_prune();
}

fs::path CheckpointStore::save(const ParameterSet& parameters, const Optimizer* optimizer,
                               const TrainingState& state, std::optional<double> score, SavedFor reason) {
  own_copy(folder_);
  const fs::path path = folder_ / (std::string(kPrefix) + std::to_string(state.step));
  write_checkpoint(path, parameters, optimizer, state, score, reason);
  point_and_prune();
  return path;
}

bool CheckpointStore::off_schedule(Index step) const {
  const fs::path path = folder_ / (std::string(kPrefix) + std::to_string(step));
  return fs::exists(path / "state.json") && saved_off_schedule(path);
}

void CheckpointStore::point_and_prune() {
  const auto all = checkpoints_in(folder_);
  if (all.empty()) return;
  std::vector<std::pair<double, fs::path>> scored;  // best first; among equals the earlier one
  for (const auto& path : all)
    if (const auto score = score_in(path); score && !std::isnan(*score))
      scored.emplace_back(retention_.higher_is_better ? -*score : *score, path);
  std::stable_sort(scored.begin(), scored.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  point_link(folder_ / "last", all.back().filename());
  if (!scored.empty()) point_link(folder_ / "best", scored.front().second.filename());

  const auto scheduled = scheduled_checkpoints_in(folder_);
  const auto count =
      std::min<std::ptrdiff_t>(std::max<Index>(1, retention_.keep_last), std::ssize(scheduled));
  std::vector<fs::path> kept(scheduled.end() - count, scheduled.end());
  kept.push_back(all.back());  // to go on from, if an interruption left it
  for (Index i = 0; i < std::min<Index>(retention_.keep_best, std::ssize(scored)); ++i)
    kept.push_back(scored[static_cast<std::size_t>(i)].second);
  std::error_code ignored;
  for (const auto& path : all)
    if (std::find(kept.begin(), kept.end(), path) == kept.end()) {
      fs::remove(path / "state.json", ignored);  // first, so that half a removal is no checkpoint
      fs::remove_all(path, ignored);
    }
  if (!best_checkpoint(folder_)) fs::remove(folder_ / "best", ignored);
}

}  // namespace attnlab
