#include "train/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

namespace attnlab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "attnlab checkpoint";
constexpr const char* kModel = "model.safetensors";
constexpr const char* kOptimizer = "optimizer.safetensors";

// A folder under a temporary name, removed unless it was put in place.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(fs::path target) : target_(std::move(target)), path_(temporary_name(target_)) {
    std::error_code error;
    fs::remove_all(path_, error);
    if (!fs::create_directory(path_, error) || error)
      throw IoError("cannot create folder " + path_.string() + ": " + error.message());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

  // One step even where the target exists: the two folders trade places.
  void put_in_place() {
    sync_folder(path_);
    const bool exists = fs::exists(target_);
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), exists ? RENAME_EXCHANGE : 0) != 0)
      throw IoError("cannot put " + target_.string() + " in place: " + std::strerror(errno));
    sync_folder(target_.parent_path());
  }

 private:
  fs::path target_, path_;
};

std::vector<NamedTensor> weights_of(const ParameterSet& parameters) {
  std::vector<NamedTensor> weights;
  for (const auto& parameter : parameters.all()) weights.push_back({parameter->name(), parameter->value()});
  return weights;
}

Json digest_json(const FileDigest& digest) {
  return {{"bytes", digest.bytes}, {"crc32", fmt::format("{:08x}", digest.crc32)}};
}

// Reads every tensor of `wanted` from the file into fresh memory. The file must hold these and no others.
std::vector<Tensor> read_exactly(const fs::path& path, const std::vector<NamedTensor>& wanted) {
  SafetensorsFile file(path);
  std::vector<Tensor> read;
  for (const auto& [name, tensor] : wanted) {
    const TensorEntry* entry = file.find(name);
    if (entry == nullptr) throw IoError(join_text(path.string(), " lacks '", name, "'"));
    const Tensor fresh(tensor.shape(), tensor.type());
    file.read(*entry, fresh);
    read.push_back(fresh);
  }
  if (file.entries().size() == wanted.size()) return read;
  for (const auto& entry : file.entries()) {
    bool known = false;
    for (const auto& item : wanted) known = known || item.name == entry.name;
    if (!known)
      throw IoError(join_text(path.string(), " holds '", entry.name, "', which nothing here asks for"));
  }
  return read;
}

void copy_all(const std::vector<Tensor>& from, const std::vector<NamedTensor>& to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i].tensor.copy_from(from[i]);
}

Json read_state_file(const fs::path& path) {
  if (!fs::exists(path))
    throw IoError(path.parent_path().string() + " is no checkpoint: it has no state.json");
  Json state = Json::parse(read_small_file(path), nullptr, false);
  if (!state.is_object() || !state.contains("format") || state["format"] != kFormat ||
      !state.contains("version"))
    throw IoError(path.string() + " is damaged or not from attnlab");
  if (state["version"] != kCheckpointVersion)
    throw IoError(fmt::format("{}: format version {}, this program reads version {}", path.string(),
                              state["version"].dump(), kCheckpointVersion));
  return state;
}

void verify(const fs::path& path, const Json& expected) {
  const FileDigest digest = digest_of(path);
  if (digest_json(digest) != expected)
    throw IoError(fmt::format("{} is damaged: {} bytes with checksum {:08x}, expected {}", path.string(),
                              digest.bytes, digest.crc32, expected.dump()));
}

}  // namespace

void write_checkpoint(const fs::path& folder, const ParameterSet& parameters, const Optimizer* optimizer,
                      const TrainingState& state, std::optional<double> score, SavedFor reason) {
  TemporaryFolder temporary(folder);
  Json json{{"format", kFormat}, {"version", kCheckpointVersion}};
  json["files"][kModel] = digest_json(write_safetensors(temporary.path() / kModel, weights_of(parameters)));
  if (optimizer != nullptr)
    json["files"][kOptimizer] =
        digest_json(write_safetensors(temporary.path() / kOptimizer, optimizer->state()));
  if (score) json["score"] = *score;
  if (reason == SavedFor::interruption) json["regular"] = false;
  json["training"] = Json::parse(to_json_line(to_record(state)));
  write_durably(temporary.path() / "state.json", json.dump(2) + "\n");
  temporary.put_in_place();
}

Checkpoint::Checkpoint(fs::path folder, Parts parts) : folder_(std::move(folder)) {
  const fs::path path = folder_ / "state.json";
  const Json json = read_state_file(path);
  try {
    state_ = training_state(parse_record(json.at("training").dump(), "training"));
    if (json.contains("score"))
      score_ = json.at("score").is_null() ? std::nan("") : json.at("score").get<double>();
    if (!json.at("files").contains(kModel)) throw IoError(std::string(kModel) + " is not listed");
  } catch (const Json::exception& error) {
    throw IoError(path.string() + " is damaged: " + error.what());
  } catch (const IoError& error) {
    throw IoError(path.string() + " is damaged: " + error.what());
  }
  for (const auto& [name, digest] : json.at("files").items())
    if (name == kModel || (name == kOptimizer && parts == Parts::all)) verify(folder_ / name, digest);
}

void Checkpoint::load_weights(ParameterSet& parameters) const {
  attnlab::load_weights(folder_ / kModel, parameters);
}

void Checkpoint::load(ParameterSet& parameters, Optimizer& optimizer) const {
  const auto weights = weights_of(parameters), moments = optimizer.state();
  const auto read_weights = read_exactly(folder_ / kModel, weights);
  const auto read_moments = read_exactly(folder_ / kOptimizer, moments);
  copy_all(read_weights, weights);
  copy_all(read_moments, moments);
  optimizer.set_updates(state_.updates);
  parameters.refresh_compute();
}

void load_weights(const fs::path& file, ParameterSet& parameters) {
  const auto weights = weights_of(parameters);
  copy_all(read_exactly(file, weights), weights);
  parameters.refresh_compute();
}

void load_average(const std::vector<fs::path>& folders, ParameterSet& parameters) {
  check(!folders.empty(), "an average of no checkpoints");
  const auto weights = weights_of(parameters);
  std::vector<std::vector<double>> sums;
  for (const auto& folder : folders) {
    const Checkpoint checked(folder, Checkpoint::Parts::weights);
    const auto read = read_exactly(folder / kModel, weights);
    sums.resize(read.size());
    for (std::size_t i = 0; i < read.size(); ++i) {
      const auto numbers = read[i].to_doubles();
      sums[i].resize(numbers.size());
      for (std::size_t j = 0; j < numbers.size(); ++j)
        sums[i][j] += numbers[j] / static_cast<double>(folders.size());
    }
  }
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i].tensor.copy_from(Tensor::from(weights[i].tensor.shape(), DType::f64, sums[i]));
  parameters.refresh_compute();
}

}  // namespace attnlab
