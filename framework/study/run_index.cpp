#include "study/run_index.h"

#include "core/error.h"
#include "train/durable_file.h"
#include "train/record.h"
#include "train/run_folder.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

std::string status_of(const fs::path& folder) {
  const fs::path file = folder / "result.json";
  std::error_code error;
  if (!fs::exists(file, error)) return "";
  try {
    return parse_record(read_small_file(file), file.string()).text("status");
  } catch (const IoError&) {
    return "";
  }
}

std::optional<fs::path> find(const fs::path& link, std::string RunIdentity::*key, const RunIdentity& wanted,
                             bool any_code) {
  std::error_code error;
  const fs::path target = fs::canonical(link, error);
  if (error || !finished_status(status_of(target))) return std::nullopt;
  const auto identity = identity_of_folder(target);
  if (!identity || (*identity).*key != wanted.*key) return std::nullopt;
  if (!any_code && identity->code != wanted.code) return std::nullopt;
  return target;
}

void link(const fs::path& name, const fs::path& run) {
  std::error_code error;
  fs::create_directories(name.parent_path(), error);
  if (error) throw IoError("cannot create folder " + name.parent_path().string() + ": " + error.message());
  point_link(name, fs::relative(fs::canonical(run), fs::canonical(name.parent_path())));
}

}  // namespace

bool finished_run(const fs::path& folder) { return finished_status(status_of(folder)); }

bool diverged_run(const fs::path& folder) { return status_of(folder) == "diverged"; }

std::optional<fs::path> RunIndex::find_scored(const RunIdentity& wanted, bool any_code) const {
  return find(folder_ / "scored" / wanted.scoring, &RunIdentity::scoring, wanted, any_code);
}

std::optional<fs::path> RunIndex::find_trained(const RunIdentity& wanted, bool any_code) const {
  return find(folder_ / "trained" / wanted.training, &RunIdentity::training, wanted, any_code);
}

void RunIndex::remember(const RunIdentity& identity, const fs::path& run) {
  link(folder_ / "scored" / identity.scoring, run);
  if (!fs::is_symlink(run / "checkpoints")) link(folder_ / "trained" / identity.training, run);
}

}  // namespace attnlab
