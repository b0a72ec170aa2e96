#include "train/place_weights.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "train/placed_numbers.h"
#include "train/trainable.h"

namespace attnlab {
namespace {

std::string with_layer(const std::string& name, const std::string& layer) {
  const std::size_t at = name.find("{i}");
  return at == std::string::npos ? name : name.substr(0, at) + layer + name.substr(at + 3);
}

// The number that stands for {i}, or nothing if `name` is not of this form.
std::optional<std::string> layer_in(const std::string& pattern, const std::string& name) {
  const std::size_t at = pattern.find("{i}");
  if (at == std::string::npos) return name == pattern ? std::optional<std::string>("") : std::nullopt;
  const std::string before = pattern.substr(0, at), after = pattern.substr(at + 3);
  if (!name.starts_with(before) || !name.ends_with(after) || name.size() <= before.size() + after.size())
    return {};
  std::string digits = name.substr(before.size(), name.size() - before.size() - after.size());
  if (digits.find_first_not_of("0123456789") != std::string::npos || digits.size() > 6) return {};
  return digits;
}

std::string renewed(const WeightFamily& family, std::string name) {
  for (const auto& [old, now] : family.old_endings())
    if (name.ends_with(old)) name = name.substr(0, name.size() - old.size()) + now;
  return name;
}

// The name without one of the prefixes that the family's files may have.
std::vector<std::string> bare_names(const WeightFamily& family, const std::string& name) {
  std::vector<std::string> all;
  for (const auto& prefix : family.prefixes())
    if (name.starts_with(prefix)) all.push_back(renewed(family, name.substr(prefix.size())));
  return all;
}

constexpr std::size_t kShown = 6;  // tensors that do not fit

class Placing {
 public:
  Placing(WeightFiles& files, const ModelSpec& spec, std::uint64_t seed, ParameterSet& parameters)
      : files_(files), spec_(spec), seed_(seed), parameters_(parameters), last_(parameters) {}

  WeightReport run(const std::vector<Placement>& placements, const std::vector<NotOurs>& not_ours) {
    require_reinit_names(placements);
    for (const Placement& placement : placements) {
      spoken_of_.insert(placement.tensor);
      place(placement);
    }
    for (const auto& name : files_.names())
      if (spoken_of_.count(name) == 0) note_unused(name, what_is(name, not_ours));
    for (const auto& parameter : parameters_.all()) note_missing(*parameter);
    if (const std::string text = problems(placements); !text.empty()) throw IoError(text);
    parameters_.draw([this](const Parameter& parameter) { return written_.count(&parameter) == 0; });
    return report_;
  }

 private:
  static std::string what_is(const std::string& name, const std::vector<NotOurs>& not_ours) {
    for (const auto& [pattern, what] : not_ours)
      if (matches(pattern, name) || matches("*." + pattern, name)) return what;
    return {};
  }

  // A pattern may also speak of what the file alone has: the same keys serve models with and without it.
  void require_reinit_names(const std::vector<Placement>& placements) const {
    std::vector<std::string> others;
    for (const Placement& placement : placements)
      others.insert(others.end(), placement.parameters.begin(), placement.parameters.end());
    require_match("model.reinit", spec_.reinit, parameters_, others);
  }

  // All that is wrong, one problem a line; empty if nothing is.
  std::string problems(const std::vector<Placement>& placements) const {
    std::vector<std::string> lines = excess_layers(placements);
    const std::size_t shown = std::min(problems_.size(), kShown);
    lines.insert(lines.end(), problems_.begin(), problems_.begin() + static_cast<std::ptrdiff_t>(shown));
    if (shown < problems_.size())
      lines.push_back(fmt::format("and {} more tensors that do not fit", problems_.size() - shown));
    if (const std::string text = report_.problems(); !text.empty()) lines.push_back(text);
    return fmt::format("{}", fmt::join(lines, "\n"));
  }

  // Stack by stack, that the model has more layers than the file, where that is why parameters lack numbers.
  std::vector<std::string> excess_layers(const std::vector<Placement>& placements) const {
    LastLayers stored;
    for (const Placement& placement : placements)
      for (const std::string& parameter : placement.parameters) stored.add(parameter);
    std::map<std::string, std::string> problems;  // by stack
    for (const auto& item : report_.unexplained) {
      const auto place = layer_of(item.name);
      const auto last = stored.of(item.name);
      if (!place || !last || place->number <= *last || parameters_.find(item.name) == nullptr) continue;
      problems[place->stack] =
          fmt::format("model.{}layers is {}, but {} has {} layers", both_stacks() ? place->stack + "." : "",
                      *last_.of(item.name) + 1, spec_.from, *last + 1);
    }
    std::vector<std::string> all;
    for (const auto& [stack, problem] : problems) all.push_back(problem);
    return all;
  }

  bool both_stacks() const { return spec_.has_encoder() && spec_.has_decoder(); }

  bool reinit(const std::string& name) const { return matches_any(spec_.reinit, name, last_); }

  void note_unused(const std::string& name, const std::string& why) {
    if (!why.empty())
      report_.unused.push_back({name, why});
    else if (matches_any(spec_.allow, name, last_))
      report_.unused.push_back({name, "allowed"});
    else
      report_.unexplained.push_back({name, "in the file, but no parameter asks for it"});
  }

  void note_missing(const Parameter& parameter) {
    const std::string& name = parameter.name();
    if (set_.count(&parameter) > 0 || parameter.buffer()) return;
    const auto why = fresh_.find(name);
    if (why != fresh_.end())
      report_.fresh.push_back({name, why->second});
    else if (reinit(name))
      report_.fresh.push_back({name, "reinit"});
    else if (name.ends_with(".adapter.a") || name.ends_with(".adapter.b"))
      report_.fresh.push_back({name, "an adapter"});
    else if (name.starts_with("input."))
      report_.fresh.push_back({name, "the input of this task"});
    else if (spec_.pooled() && name.starts_with("output."))
      report_.fresh.push_back({name, "the head of this task"});
    else if (matches_any(spec_.allow, name, last_))
      report_.fresh.push_back({name, "allowed"});
    else
      report_.unexplained.push_back({name, "a parameter that the file has nothing for"});
  }

  void place(const Placement& placement) {
    std::vector<Parameter*> to;
    for (const auto& name : placement.parameters)
      if (Parameter* parameter = parameters_.find(name)) to.push_back(parameter);
    if (spec_.pooled() && placement.other_head)
      return note_unused(placement.tensor, "a head for other tasks");
    if (to.empty()) return place_nowhere(placement);
    if (to.size() != placement.parameters.size())
      return problems_.push_back(
          "'" + placement.tensor + "' holds several parameters, of which this model has " +
          std::to_string(to.size()) + " of " + std::to_string(placement.parameters.size()));
    if (taking(to).empty()) return note_unused(placement.tensor, "reinit");
    const FileType type = files_.entry(placement.tensor).type;
    if (type != FileType::f32 && type != FileType::f16 && type != FileType::bf16 && type != FileType::f64) {
      for (const Parameter* parameter : to) fresh_[parameter->name()] = "";
      return problems_.push_back("'" + placement.tensor + "' has elements of type " + to_string(type) +
                                 "; weights must be F32, F16, BF16 or F64");
    }
    const Shape wanted = stored_shape(to, placement.transposed);
    const auto& entry = files_.entry(placement.tensor);
    const bool cut = may_be_cut(*to.front(), to.size(), entry, wanted);
    if (!cut && entry.shape != shape_list(wanted)) return misfit(placement, *to.front(), entry, wanted);
    copy(placement, to, cut);
  }

  // Those that take their numbers from the file: several may lie in one tensor, and only some be drawn anew.
  std::vector<Parameter*> taking(std::vector<Parameter*> parameters) const {
    std::erase_if(parameters, [this](const Parameter* parameter) { return reinit(parameter->name()); });
    return parameters;
  }

  // A tensor whose parameters this model does not have.
  void place_nowhere(const Placement& placement) {
    const std::string& name = placement.tensor;
    if (!placement.same_as.empty() && files_.has(placement.same_as)) {
      if (equal_numbers(files_, name, placement.same_as))
        report_.tied.push_back({name, "= " + placement.same_as});
      else
        problems_.push_back("'" + name + "' differs from '" + placement.same_as +
                            "', but the model has one matrix for both; set model.tie to none");
      return;
    }
    const std::string& first = placement.parameters.empty() ? name : placement.parameters.front();
    if (const auto layers = layers_before(first))
      return note_unused(name, fmt::format("of layers after the {} that this model has", *layers));
    if (first.ends_with("_embedding.weight") && parameters_.find("input.weight") != nullptr)
      return note_unused(name, "this model reads vectors");
    note_unused(name, {});
  }

  // Where a parameter is of a layer after those that its stack has: how many it has.
  std::optional<Index> layers_before(const std::string& parameter) const {
    const auto place = layer_of(parameter);
    const StackSpec* stack = stack_of(parameter);
    if (!place || stack == nullptr || place->number < stack->layers) return {};
    return stack->layers;
  }

  // nullptr where this model has no such stack.
  const StackSpec* stack_of(const std::string& parameter) const {
    if (parameter.starts_with("encoder.")) return spec_.has_encoder() ? &spec_.encoder : nullptr;
    return spec_.has_decoder() ? &spec_.decoder : nullptr;
  }

  void misfit(const Placement& placement, const Parameter& first, const TensorEntry& entry,
              const Shape& wanted) {
    if (spec_.pooled() && first.name().starts_with("output.")) {
      fresh_[first.name()] = "the head of this task, of another shape";
      return note_unused(placement.tensor, "a head for other tasks");
    }
    for (const auto& parameter : placement.parameters) fresh_[parameter] = "";
    problems_.push_back(
        fmt::format("'{}' has the shape {}, but this model's {} wants {}; model.reinit: [{}] leaves it "
                    "as it is",
                    placement.tensor, text_of(entry.shape), first.name(), text_of(shape_list(wanted)),
                    fmt::join(placement.parameters, ", ")));
  }

  void copy(const Placement& placement, const std::vector<Parameter*>& to, bool cut) {
    const std::vector<Parameter*> taken = taking(to);
    for (const Parameter* parameter : taken) {
      set_.insert(parameter);
      report_.numbers += parameter->shape().count();
    }
    report_.used.push_back({placement.tensor, ""});
    if (placement.transposed) report_.transposed.push_back({placement.tensor, ""});
    if (cut)
      report_.cut.push_back({placement.tensor, fmt::format("{} of {} rows", to.front()->shape()[0],
                                                           files_.entry(placement.tensor).shape[0])});
    if (spec_.weights == StartingWeights::random) return;
    const Tensor stored = files_.read(placement.tensor, parameters_.master_type());
    if (const std::string what = not_finite(stored); !what.empty())
      return problems_.push_back("'" + placement.tensor + "' holds " + what);
    write_numbers(stored, placement.transposed, to);
    written_.insert(taken.begin(), taken.end());
    for (const Parameter* parameter : taken) rearrange(spec_.weights, seed_, *parameter);
  }

  WeightFiles& files_;
  const ModelSpec& spec_;
  std::uint64_t seed_;
  ParameterSet& parameters_;
  LastLayers last_;
  WeightReport report_;
  std::vector<std::string> problems_;  // one a tensor
  std::set<std::string> spoken_of_;
  std::set<const Parameter*> set_, written_;  // accounted for; of those, the ones that hold its numbers
  std::map<std::string, std::string> fresh_;
};

}  // namespace

std::vector<Placement> placements_of(const WeightFamily& family, const std::vector<std::string>& names) {
  const auto rules = family.rules();
  std::map<std::string, std::string> as_stored;  // bare name -> name in the file
  for (const auto& name : names)
    for (const auto& bare : bare_names(family, name)) as_stored.emplace(bare, name);
  std::vector<Placement> result;
  std::set<std::string> taken;
  for (const auto& rule : rules)
    for (const auto& [bare, stored] : as_stored) {
      const auto layer = layer_in(rule.tensor, bare);
      if (!layer || !taken.insert(stored).second) continue;
      Placement placement{stored, {}, rule.transposed};
      placement.other_head = rule.parameters.empty() || rule.parameters.front().starts_with("output.");
      for (const auto& parameter : rule.parameters)
        placement.parameters.push_back(with_layer(parameter, *layer));
      const auto same = as_stored.find(with_layer(rule.same_as, *layer));
      if (!rule.same_as.empty() && same != as_stored.end()) placement.same_as = same->second;
      result.push_back(placement);
    }
  return result;
}

std::vector<Placement> placements_by_name(const std::vector<std::string>& names) {
  std::vector<Placement> result;
  for (const auto& name : names) result.push_back({name, {name}});
  return result;
}

WeightReport place_weights(WeightFiles& files, const std::vector<Placement>& placements,
                           const std::vector<NotOurs>& not_ours, const ModelSpec& spec, std::uint64_t seed,
                           ParameterSet& parameters) {
  return Placing(files, spec, seed, parameters).run(placements, not_ours);
}

}  // namespace attnlab
