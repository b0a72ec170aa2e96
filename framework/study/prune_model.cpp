#include "study/prune_model.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "config/error.h"
#include "config/spec.h"
#include "train/checkpoint_store.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

struct LeftHeads {
  Index all = 0;
  std::vector<Index> left;
};

std::string name_of(const AttentionPlace& place, Index head) {
  return join_text(place.path(), ".heads.", head);
}

LeftHeads left_of(const AttentionPlace& place) {
  LeftHeads result{place.heads(), {}};
  const auto gates = place.attention->gates()->value().to_doubles();
  for (Index h = 0; h < place.heads(); ++h)
    if (gates[static_cast<std::size_t>(h)] != 0) result.left.push_back(h);
  return result;
}

// For every index along an axis of the small tensor, the one of the large tensor: whole heads are left out.
std::vector<Index> source_indices(Index large, Index small, const LeftHeads& heads, const std::string& name) {
  std::vector<Index> indices;
  const Index width = large / heads.all;
  const auto left = static_cast<Index>(heads.left.size());
  if (large == small) {
    for (Index i = 0; i < large; ++i) indices.push_back(i);
    return indices;
  }
  check(large % heads.all == 0 && small == left * width, name, ": an axis of ", large, " does not become ",
        small, " when ", left, " of ", heads.all, " heads are left");
  for (const Index head : heads.left)
    for (Index i = 0; i < width; ++i) indices.push_back(head * width + i);
  return indices;
}

// The elements of `large` that belong to heads that are left.
Tensor sliced(const Tensor& large, const Shape& shape, const LeftHeads& heads, const std::string& name) {
  check(large.shape().rank() == shape.rank(), name, ": ", large.shape(), " does not become ", shape);
  std::vector<double> values = large.to_doubles();
  Shape now = large.shape();
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const auto from = source_indices(now[axis], shape[axis], heads, name);
    Index outer = 1, inner = 1;
    for (int i = 0; i < shape.rank(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : now[i];
    std::vector<double> next;
    for (Index o = 0; o < outer; ++o)
      for (const Index index : from)
        for (Index i = 0; i < inner; ++i)
          next.push_back(values[static_cast<std::size_t>((o * now[axis] + index) * inner + i)]);
    values = std::move(next);
    Shape after;
    for (int i = 0; i < shape.rank(); ++i) after.append(i == axis ? shape[axis] : now[i]);
    now = after;
  }
  return Tensor::from(shape, large.type(), values);
}

// The assignment that says how many heads are left in each layer's attention of this type; nothing where all
// of them are, so that what the spec says of it already stays.
std::optional<std::string> assignment_of(AttentionType type, const ModelSpec& spec,
                                         const std::vector<AttentionPlace>& places,
                                         const std::map<std::string, LeftHeads>& left) {
  const StackSpec& stack = type == AttentionType::encoder ? spec.encoder : spec.decoder;
  // A layer that is no place has no heads.
  std::vector<std::size_t> counts(static_cast<std::size_t>(stack.layers));
  bool fewer = false;
  for (const AttentionPlace& place : places) {
    if (place.type != type) continue;
    const std::size_t count = left.at(place.path()).left.size();
    counts[static_cast<std::size_t>(place.layer)] = count;
    fewer = fewer || count < static_cast<std::size_t>(place.heads());
  }
  if (!fewer) return {};
  const char* key = type == AttentionType::encoder   ? "model.encoder.layer_heads"
                    : type == AttentionType::decoder ? "model.decoder.layer_heads"
                                                     : "model.decoder.layer_cross_heads";
  return fmt::format("{}=[{}]", key, fmt::join(counts, ", "));
}

void copy_weights(const ParameterSet& from, ParameterSet& to, const std::map<std::string, LeftHeads>& left) {
  for (const auto& parameter : to.all()) {
    const Parameter* large = from.find(parameter->name());
    check(large != nullptr, "pruning: the smaller model has '", parameter->name(), "', the larger has not");
    if (large->shape() == parameter->shape()) {
      parameter->value().copy_from(large->value());
      continue;
    }
    const auto place = std::find_if(left.begin(), left.end(), [&parameter](const auto& entry) {
      return parameter->name().rfind(entry.first + ".", 0) == 0;
    });
    check(place != left.end(), "pruning: '", parameter->name(),
          "' has another size, but belongs to no attention");
    parameter->value().copy_from(
        sliced(large->value(), parameter->shape(), place->second, parameter->name()));
  }
  to.refresh_compute();
}

}  // namespace

std::vector<std::string> names_of(const std::vector<AttentionPlace>& places,
                                  const std::vector<HeadId>& heads) {
  std::vector<std::string> names;
  for (const HeadId& head : heads) names.push_back(name_of(places[head.place], head.head));
  return names;
}

std::vector<HeadId> heads_by_name(const std::vector<AttentionPlace>& places,
                                  const std::vector<std::string>& patterns) {
  std::vector<HeadId> found;
  for (const std::string& pattern : patterns) {
    const std::size_t before = found.size();
    for (const HeadId& head : all_heads(places))
      if (::fnmatch(pattern.c_str(), name_of(places[head.place], head.head).c_str(), 0) == 0)
        found.push_back(head);
    if (found.size() == before)
      throw ConfigError("error: '" + pattern + "' matches no head; names are such as " +
                        (places.empty() ? "(there are none)" : name_of(places.front(), 0)));
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void shut_gates(TrainedModel& trained, const std::vector<HeadId>& removed) {
  const auto places = attention_places(trained.model());
  for (const HeadId& head : removed) {
    const Tensor& gates = places[head.place].attention->gates()->value();
    auto values = gates.to_doubles();
    values[static_cast<std::size_t>(head.head)] = 0;
    gates.copy_from(Tensor::from(gates.shape(), DType::f64, values));
  }
  trained.built->parameters.refresh_compute();
}

TrainedModel without_shut_heads(const TrainedModel& trained) {
  if (trained.spec->model.adapters.on())
    throw ConfigError("error: smaller matrices for a model with adapters are not supported; shut gates");
  const auto places = attention_places(trained.model());
  std::map<std::string, LeftHeads> left;
  for (const AttentionPlace& place : places) left[place.path()] = left_of(place);
  TrainedModel small;
  small.folder = trained.folder;
  small.source = trained.source;
  small.target = trained.target;
  small.weights = trained.weights;
  small.data = trained.data;
  small.spec = std::make_unique<ExperimentSpec>();
  Tree tree = Tree::parse(write_spec(*trained.spec));
  for (const AttentionType type : {AttentionType::encoder, AttentionType::decoder, AttentionType::cross})
    if (const auto assignment = assignment_of(type, trained.spec->model, places, left)) tree.set(*assignment);
  read_spec(tree, *small.spec);
  const ParameterSet& parameters = trained.built->parameters;
  small.shape = trained.shape;
  small.built = build_model(*small.spec, trained.sizes(), parameters.type(), false, InitialValues::zero);
  copy_weights(parameters, small.built->parameters, left);
  return small;
}

void write_pruned_run(const TrainedModel& trained, const std::vector<std::string>& removed,
                      const fs::path& folder) {
  if (fs::exists(folder) && !fs::is_empty(folder))
    throw ConfigError("error: " + folder.string() + " holds something already; name another folder");
  fs::create_directories(folder / "checkpoints");
  fs::copy(trained.folder / "vocabulary", folder / "vocabulary", fs::copy_options::recursive);
  write_durably(folder / "config.yaml", write_spec(*trained.spec));
  const Checkpoint original(checkpoints_in(trained.folder / "checkpoints").back());
  TrainingState state = original.state();
  state.precision = to_string(trained.built->parameters.type());
  CheckpointStore(folder / "checkpoints", {}).save(trained.built->parameters, nullptr, state);
  const nlohmann::ordered_json papers{
      {"run", trained.folder.string()}, {"weights", trained.weights}, {"heads_out", removed}};
  write_durably(folder / "pruned.json", papers.dump(2) + "\n");
}

}  // namespace attnlab
