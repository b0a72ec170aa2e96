#include "study/identity.h"

#include <code_digest.h>  // made by the build
#include "config/error.h"
#include "config/spec.h"
#include "core/error.h"
#include "data/sha256.h"
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

// A text that environment.json of a run holds; empty if it does not.
std::string noted(const fs::path& folder, std::string_view name) {
  const fs::path environment = folder / "environment.json";
  if (!fs::exists(environment)) return "";
  const Record record = parse_record(read_small_file(environment), environment.string());
  const RecordValue* value = record.find(name);
  const auto* text = value ? std::get_if<std::string>(value) : nullptr;
  return text ? *text : "";
}

}  // namespace

std::string code_digest() { return kCodeDigest; }
std::string probe_digest() { return kProbeDigest; }
std::string rule_digest() { return kRuleDigest; }

RunIdentity identity_of(const ExperimentSpec& given, const std::string& data_hash,
                        const std::string& precision, const std::string& start) {
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
  RunIdentity result;
  result.training = hash_of({write_spec(*spec), data_hash});
  DataSpec data = given.data;
  data.root.clear();
  result.scoring = hash_of({result.training, write_spec(given.decode), write_spec(data)});
  result.code = code_digest();
  return result;
}

RunIdentity identity_of(const ExperimentSpec& spec, const std::string& data_hash) {
  return identity_of(spec, data_hash, to_string(choose_precision(spec.precision).type),
                     digest_of_start(spec.model.from));
}

std::string starting_weights_of(const ExperimentSpec& spec, const fs::path& resumed) {
  if (spec.model.from.empty()) return "";
  const std::string known = resumed.empty() ? "" : noted(resumed, "starting_weights");
  return known.empty() ? digest_of_start(spec.model.from) : known;
}

std::optional<RunIdentity> identity_of_folder(const fs::path& folder) {
  try {
    const auto last = last_checkpoint(folder / "checkpoints");
    if (!last) return std::nullopt;
    const TrainingState state = Checkpoint(*last).state();
    const auto spec = experiment_of(Tree::load({(folder / "config.yaml").string()}));
    RunIdentity result = identity_of(*spec, state.data, state.precision, starting_weights_of(*spec, folder));
    result.code = noted(folder, "code");
    return result;
  } catch (const Error&) {  // damaged or of another version: as if it were not there
    return std::nullopt;
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

}  // namespace attnlab
