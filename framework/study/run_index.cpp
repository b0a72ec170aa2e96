#include "study/run_index.h"

#include "core/error.h"
#include "train/durable_file.h"
#include "train/record.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

std::string status_of(const fs::path& folder) {
  const fs::path file = folder / "result.json";
  std::error_code error;
  if (!fs::exists(file, error)) return "";
  try {
    const Record record = parse_record(read_small_file(file), file.string());
    const RecordValue* status = record.find("status");
    const auto* text = status ? std::get_if<std::string>(status) : nullptr;
    return text ? *text : "";
  } catch (const IoError&) {
    return "";
  }
}

}  // namespace

bool finished_run(const fs::path& folder) {
  const std::string status = status_of(folder);
  return status == "done" || status == "early_stopped";
}

bool diverged_run(const fs::path& folder) { return status_of(folder) == "diverged"; }

std::optional<fs::path> RunIndex::find(const RunIdentity& wanted, bool any_code) const {
  const fs::path link = folder_ / wanted.training;
  std::error_code error;
  const fs::path target = fs::canonical(link, error);
  if (error || !finished_run(target)) return std::nullopt;
  const auto identity = identity_of_folder(target);
  if (!identity || identity->training != wanted.training) return std::nullopt;
  if (!any_code && identity->code != wanted.code) return std::nullopt;
  return target;
}

void RunIndex::remember(const RunIdentity& identity, const fs::path& run) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw IoError("cannot create folder " + folder_.string() + ": " + error.message());
  point_link(folder_ / identity.training, fs::relative(fs::canonical(run), fs::canonical(folder_)));
}

}  // namespace attnlab
