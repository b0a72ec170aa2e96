#include "train/export_model.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "config/error.h"
#include "config/registry.h"
#include "config/spec.h"
#include "train/durable_file.h"
#include "train/placed_numbers.h"
#include "train/rotary_rows.h"
#include "train/safetensors.h"

namespace attnlab {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

// The model said by one stack, as config.json says it.
ModelSpec canonical(const ModelSpec& given, Index vocabulary) {
  ModelSpec spec = given;
  spec.stack = only_stack(given);
  spec.encoder = spec.decoder = spec.stack;
  spec.stack.attention = Registry<AttentionSpec>::clone(*spec.stack.attention);
  AttentionSpec& attention = *spec.stack.attention;
  const Index heads = attention.heads.value_or(spec.stack.heads);
  spec.stack.heads = heads;
  attention.heads.reset();
  attention.key_value_heads = attention.key_value_heads.value_or(heads);
  if (spec.width % heads == 0) attention.key_width = attention.key_width.value_or(spec.width / heads);
  if (attention.value_width == attention.key_width) attention.value_width.reset();
  NormSpec& norm = spec.stack.norm;
  norm.bias = norm.bias.value_or(norm.kind == NormKind::layer_norm);
  spec.encoder = spec.decoder = spec.stack;
  spec.vocabulary = vocabulary;
  if (spec.tie == Tie::all) spec.tie = Tie::output;
  spec.positions.rotary_pairs = RotaryPairs::halves;  // Writer puts rows into their order
  return spec;
}

std::string json_of(const Settings& config) {
  nlohmann::ordered_json root = nlohmann::ordered_json::object();
  for (const auto& [key, value] : config) root[key] = nlohmann::ordered_json::parse(value);
  return root.dump(2) + "\n";
}

// Keys of how a model is trained, or of heads that are left out: no part of what is published.
bool is_free(const std::string& path, const ModelSpec& spec) {
  for (const char* start : {"init.", "dropout", "checkpoint_activations", "from", "weights", "reinit",
                            "allow", "head", "input", "cross_attention", "adapters"})
    if (path.starts_with(start)) return true;
  if (spec.positions.kind != PositionKind::rotary && path.starts_with("positions.rotary")) return true;
  if (spec.positions.kind != PositionKind::sinusoidal && path == "positions.layout") return true;
  const bool own_head = spec.pooled() && (path.starts_with("output_") || path == "tie");
  return own_head || path.starts_with("encoder") || path.starts_with("decoder");
}

// What is lost when the model is said in the family's config.json; empty if nothing is.
std::string what_is_lost(const WeightFamily& family, const ModelSpec& spec, Index vocabulary) {
  const Settings config = family.config(spec, vocabulary);
  if (config.empty()) return "it has no config.json";
  std::string keys;
  try {
    for (const auto& [key, value] : family.keys(PublishedConfig(json_of(config), "config.json")))
      keys += key + ": " + value + "\n";
  } catch (const IoError& error) {
    return error.what();
  }
  ModelSpec read;
  read_spec(Tree::parse(keys), read);
  std::string lost;
  for (const auto& difference : diff(spec, canonical(read, vocabulary)))
    if (!is_free(difference.path, spec))
      lost += fmt::format("{}{} {} (it can say {})", lost.empty() ? "" : ", ", difference.path, difference.a,
                          difference.b.empty() ? "nothing" : difference.b);
  return lost;
}

std::shared_ptr<WeightFamily> fitting_family(const std::string& wanted, const ModelSpec& spec,
                                             Index vocabulary) {
  std::string reasons;
  for (const auto& kind : Registry<WeightFamily>::list()) {
    if (!wanted.empty() && kind.name != wanted) continue;
    auto family = Registry<WeightFamily>::make(kind.name);
    const std::string lost = what_is_lost(*family, spec, vocabulary);
    if (lost.empty()) return family;
    reasons += "\n" + kind.name + ": " + lost;
  }
  if (!wanted.empty() && reasons.empty())
    Registry<WeightFamily>::make(wanted);  // says that there is no such family
  throw ConfigError("error: no family of published models can say what this model is" + reasons);
}

class Writer {
 public:
  Writer(const WeightFamily& family, const ModelSpec& spec, const PositionSpec& positions,
         const ParameterSet& parameters)
      : family_(family), spec_(spec), positions_(positions), parameters_(parameters) {}

  std::vector<NamedTensor> tensors() {
    for (const TensorRule& rule : family_.rules()) {
      if (rule.tensor.find("{i}") == std::string::npos) {
        add(rule, "");
      } else {
        for (Index i = 0; i < only_stack(spec_).layers; ++i) add(rule, std::to_string(i));
      }
    }
    return std::move(tensors_);
  }

  // Heads of own tasks: the family is one that can say all the rest.
  std::vector<std::string> left_out() const {
    std::vector<std::string> lines;
    for (const auto& parameter : parameters_.all()) {
      if (written_.count(parameter.get()) > 0) continue;
      if (parameter->buffer()) {
        for (const double gate : parameter->value().to_doubles())
          if (gate != 1)
            throw ConfigError("error: " + parameter->name() +
                              " is not all ones; published models have no gates");
      } else if (parameter->name().find(".adapter.") == std::string::npos) {
        lines.push_back(parameter->name() + " (published models of the family " +
                        Registry<WeightFamily>::name_of(family_) +
                        " have no place for the head of a task; it stays in the run)");
      } else {
        require_merged(*parameter);
      }
    }
    return lines;
  }

 private:
  static void require_merged(const Parameter& adapter) {
    if (!adapter.name().ends_with(".b")) return;
    for (const double number : adapter.value().to_doubles())
      if (number != 0)
        throw ConfigError("error: " + adapter.name() +
                          " is not zero; published models have no adapters, so merge them before");
  }

  static std::string with(const std::string& name, const std::string& layer) {
    const std::size_t at = name.find("{i}");
    return at == std::string::npos ? name : name.substr(0, at) + layer + name.substr(at + 3);
  }

  void add(const TensorRule& rule, const std::string& layer) {
    std::vector<Parameter*> from;
    for (const auto& name : rule.parameters)
      if (Parameter* parameter = parameters_.find(with(name, layer))) from.push_back(parameter);
    const bool head = !rule.parameters.empty() && rule.parameters.front().starts_with("output.");
    if (from.empty() || from.size() != rule.parameters.size() || (head && spec_.pooled())) return;
    Tensor whole = gather_numbers(from, rule.transposed);
    if (pairs_neighbours(positions_, from.front()->name()))
      whole = neighbours_to_halves(whole, *only_stack(spec_).attention->key_width);
    const std::string name = (head ? "" : family_.prefix_of(spec_)) + with(rule.tensor, layer);
    tensors_.push_back({name, whole.type() == DType::f32 ? whole : whole.converted(DType::f32)});
    written_.insert(from.begin(), from.end());
  }

  const WeightFamily& family_;
  const ModelSpec& spec_;          // canonical
  const PositionSpec& positions_;  // as they are
  const ParameterSet& parameters_;
  std::vector<NamedTensor> tensors_;
  std::set<const Parameter*> written_;
};

Index rows_of_table(const ParameterSet& parameters) {
  for (const char* name : {"target_embedding.weight", "source_embedding.weight", "embedding.weight"})
    if (const Parameter* table = parameters.find(name)) return table->shape()[0];
  throw ConfigError("error: this model reads vectors; published families read words");
}

}  // namespace

ExportReport export_model(const ModelSpec& given, const ParameterSet& parameters,
                          const std::string& family_name, const std::filesystem::path& folder) {
  const Index vocabulary = rows_of_table(parameters);
  const ModelSpec spec = canonical(given, vocabulary);
  const auto family = fitting_family(family_name, spec, vocabulary);
  Writer writer(*family, spec, given.positions, parameters);
  const std::vector<NamedTensor> tensors = writer.tensors();
  ExportReport report{Registry<WeightFamily>::name_of(*family), static_cast<Index>(tensors.size()),
                      writer.left_out()};
  std::filesystem::create_directories(folder);
  write_safetensors(folder / "model.safetensors", tensors, {{"format", "pt"}});
  write_durably(folder / "config.json", json_of(family->config(spec, vocabulary)));
  return report;
}

}  // namespace attnlab
