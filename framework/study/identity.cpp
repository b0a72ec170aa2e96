#include "study/identity.h"

#include <code_digest.h>  // made by the build
#include "config/departures.h"
#include "config/error.h"
#include "core/error.h"
#include "data/sha256.h"
#include "study/run_index.h"
#include "study/study.h"
#include "train/build_model.h"
#include "train/checkpoint.h"
#include "train/checkpoint_store.h"
#include "train/durable_file.h"
#include "train/published_model.h"
#include "train/starting_weights.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

// Runs are told apart by what differs from the defaults, so that a new key leaves them what they are. Whoever
// changes the default of a key counts this up: all runs are others then. (tests/study/defaults_test.cpp)
constexpr const char* kDefaults = "defaults 1";

// The weights that training starts from, by content.
std::string digest_of_start(const std::string& from) {
  if (from.empty()) return "";
  const auto files = is_published_model(from)
                         ? WeightFiles(from).paths()
                         : std::vector<fs::path>{find_checkpoint(from) / "model.safetensors"};
  std::string text;
  for (const auto& file : files) {
    const FileDigest digest = digest_of(file);
    text += (text.empty() ? "" : ", ") + std::string("weights of ") + std::to_string(digest.bytes) +
            " bytes, crc " + std::to_string(digest.crc32);
  }
  return text;
}

// Decoding chooses checkpoints only where early stopping looks at a score; validation decodes greedily.
DecodeSpec decoding_in_training(const ExperimentSpec& spec) {
  DecodeSpec decode;
  const std::string& metric = spec.train.early_stopping.metric;
  const bool by_loss = metric == "valid_nll" || metric == "valid_loss" || metric == "valid_perplexity" ||
                       metric == "valid_accuracy";
  if (by_loss || !spec.train.validation_scores) return decode;
  decode = spec.decode;
  decode.beam = decode.n_best = 1;
  return decode;
}

std::string hash_of(std::initializer_list<std::string> texts) {
  Sha256 hash;
  for (const std::string& text : texts) hash.add_field(text);
  return hash.hex();
}

Precision precision_named(const std::string& name) {
  return name == "f64" ? Precision::f64 : name == "bf16" ? Precision::bf16 : Precision::f32;
}

// What environment.json of a run holds under a name; T() if it does not.
template <class T = std::string>
T noted(const fs::path& folder, std::string_view name) {
  const fs::path environment = folder / "environment.json";
  if (!fs::exists(environment)) return T();
  const Record record = parse_record(read_small_file(environment), environment.string());
  const RecordValue* value = record.find(name);
  const T* held = value ? std::get_if<T>(value) : nullptr;
  return held ? *held : T();
}

// What matters for the weights, besides the data.
std::unique_ptr<ExperimentSpec> training_of(const ExperimentSpec& given, const std::string& precision,
                                            const std::string& start) {
  auto spec = std::make_unique<ExperimentSpec>(given);
  spec->name.clear();
  spec->deterministic = true;
  spec->precision = precision_named(precision);
  spec->data = {};
  spec->expect = {};
  spec->log = {};
  spec->train.log_every = 1;
  spec->decode = decoding_in_training(given);
  spec->model.from = start;
  return spec;
}

DataSpec without_root(const DataSpec& given) {
  DataSpec data = given;
  data.root.clear();
  return data;
}

std::string precision_in_force(const ExperimentSpec& spec) {
  return to_string(choose_precision(spec.precision).type);
}

// The weights that a run starts from; by name where they cannot be read any more.
std::string start_of(const ExperimentSpec& spec, const fs::path& resumed) {
  try {
    return starting_weights_of(spec, resumed);
  } catch (const IoError&) {
    return spec.model.from;
  }
}

std::string data_hash_of(const fs::path& folder) {
  const std::string known = noted(folder, "data_hash");
  const auto last = known.empty() ? last_checkpoint(folder / "checkpoints") : std::nullopt;
  return last ? Checkpoint(*last, Checkpoint::Parts::weights).state().data : known;
}

// Where two programs alone had part in a run, its `code` is neither's, which keeps it from all who do not ask
// for results of any code.
bool has_two_configurations(const fs::path& folder) {
  return noted<bool>(folder, "mixed") && noted(folder, "mixed_by") != "code";
}

}  // namespace

std::string probe_digest() { return with_modules(kProbeDigest); }
std::string rule_digest() { return kRuleDigest; }

RunIdentity identity_of(const ExperimentSpec& given, const std::string& data_hash,
                        const std::string& precision, const std::string& start) {
  RunIdentity result;
  result.training = hash_of({kDefaults, write_departures(*training_of(given, precision, start)), data_hash});
  result.scoring =
      hash_of({result.training, write_departures(given.decode), write_departures(without_root(given.data))});
  result.code = program_digest();
  return result;
}

RunIdentity identity_of(const ExperimentSpec& spec, const std::string& data_hash) {
  return identity_of(spec, data_hash, precision_in_force(spec), digest_of_start(spec.model.from));
}

std::string starting_weights_of(const ExperimentSpec& spec, const fs::path& resumed) {
  if (spec.model.from.empty()) return "";
  const std::string known = resumed.empty() ? "" : noted(resumed, "starting_weights");
  return known.empty() ? digest_of_start(spec.model.from) : known;
}

std::vector<SpecDifference> training_differences(const ExperimentSpec& spec, const fs::path& folder) {
  if (!fs::exists(folder / "config.yaml")) return {};
  const auto before = experiment_of(Tree::load({(folder / "config.yaml").string()}));
  // What is written the same is the same: a run keeps the precision and the weights that it was begun with.
  const std::string known = noted(folder, "precision");
  const std::string old_precision = known.empty() ? precision_in_force(*before) : known;
  const std::string precision =
      spec.precision == before->precision ? old_precision : precision_in_force(spec);
  const std::string old_start = start_of(*before, folder);
  const std::string start = spec.model.from == before->model.from ? old_start : start_of(spec, "");
  auto differences =
      diff(*training_of(*before, old_precision, old_start), *training_of(spec, precision, start));
  const DataSpec old_data = without_root(before->data), data = without_root(spec.data);
  if (write_spec(old_data) != write_spec(data) && content_hash(spec.data.load()) != data_hash_of(folder))
    for (SpecDifference& difference : diff(old_data, data))
      differences.push_back({"data." + difference.path, difference.a, difference.b});
  return differences;
}

std::optional<RunIdentity> identity_of_folder(const fs::path& folder) {
  try {
    if (has_two_configurations(folder)) return std::nullopt;
    const auto last = last_checkpoint(folder / "checkpoints");
    const bool diverged_at_once = !last && diverged_run(folder);
    if (!last && !diverged_at_once) return std::nullopt;
    const TrainingState state = last ? Checkpoint(*last).state() : TrainingState();
    const std::string data = last ? state.data : noted(folder, "data_hash");
    const std::string precision = last ? state.precision : noted(folder, "precision");
    const auto spec = experiment_of(Tree::load({(folder / "config.yaml").string()}));
    RunIdentity result = identity_of(*spec, data, precision, starting_weights_of(*spec, folder));
    result.code = noted(folder, "code");
    if (fs::is_symlink(folder / "checkpoints")) {
      // The run that they belong to may have been trained anew as another one since.
      std::error_code error;
      const fs::path weights = fs::canonical(folder / "checkpoints", error);
      const auto owner = error ? std::nullopt : identity_of_folder(weights.parent_path());
      if (!owner || owner->training != result.training) return std::nullopt;
    }
    return result;
  } catch (const Error&) {  // damaged or of another version: as if it were not there
    return std::nullopt;
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

}  // namespace attnlab
