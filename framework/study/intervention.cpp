#include "study/intervention.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>

#include "config/error.h"
#include "ops/elementwise.h"

namespace attnlab {
namespace {

struct Names {
  std::vector<std::pair<std::string, const MultiHeadAttention*>> sublayers;  // null for an MLP
};

void add_stack(const Stack* stack, bool mlp, Names& names) {
  if (stack == nullptr) return;
  for (const Layer& layer : stack->layers()) {
    for (const MultiHeadAttention* attention : {&layer.self_attention(), layer.cross_attention()})
      if (attention != nullptr) names.sublayers.emplace_back(attention->path(), attention);
    if (mlp) names.sublayers.emplace_back(layer.path() + ".mlp", nullptr);
  }
}

Names names_of(const Transformer& model) {
  Names names;
  add_stack(model.encoder(), model.spec().encoder.mlp.on, names);
  add_stack(model.decoder(), model.spec().decoder.mlp.on, names);
  return names;
}

std::string head_name(const std::string& path, Index head) { return path + ".heads." + std::to_string(head); }

bool fits(const std::string& pattern, const std::string& name) {
  return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

Tensor columns_of(const Tensor& rows, Index first, Index count) {
  return rows.column_view(first, count).converted(DType::f64);
}

Tensor mean_of(const Tensor& rows) {
  const auto all = rows.to_doubles();
  std::vector<double> mean(static_cast<std::size_t>(rows.columns()));
  for (std::size_t i = 0; i < all.size(); ++i)
    mean[i % mean.size()] += all[i] / static_cast<double>(std::max<Index>(rows.rows(), 1));
  return Tensor::from({1, rows.columns()}, DType::f64, mean);
}

Tensor joined(const std::vector<Tensor>& parts) {
  Index rows = 0, at = 0;
  for (const Tensor& part : parts) rows += part.rows();
  const Tensor all({rows, parts.front().columns()}, DType::f64);
  for (const Tensor& part : parts) {
    all.row_view(at, part.rows()).copy_from(part);
    at += part.rows();
  }
  return all;
}

}  // namespace

Intervention parse_intervention(const std::string& text) {
  const std::size_t at = text.rfind('=');
  const std::string how = at == std::string::npos ? "" : text.substr(at + 1);
  for (const auto& [name, ablation] :
       {std::pair{"zero", Ablation::zero}, std::pair{"mean", Ablation::mean},
        std::pair{"resample", Ablation::resample}, std::pair{"uniform", Ablation::uniform}})
    if (how == name) return {text.substr(0, at), ablation};
  throw ConfigError("error: '" + text +
                    "': expected PATTERN=zero, mean, resample or uniform, such as "
                    "encoder.layers.0.self_attention.heads.3=zero");
}

std::vector<std::string> intervention_names(const Transformer& model) {
  std::vector<std::string> all;
  const Names names = names_of(model);
  for (const auto& [path, attention] : names.sublayers) all.push_back(path);
  for (const auto& [path, attention] : names.sublayers)
    for (Index h = 0; attention != nullptr && attention->gates() != nullptr && h < attention->shape().H; ++h)
      all.push_back(head_name(path, h));
  return all;
}

bool matches(const Intervention& rule, const Transformer& model) {
  const auto names = intervention_names(model);
  return std::any_of(names.begin(), names.end(),
                     [&rule](const std::string& name) { return fits(rule.pattern, name); });
}

Interventions::Interventions(ProbeSubject& reference, const std::vector<Intervention>& rules)
    : ModelObserver(reference.model), seed_(reference.seed) {
  for (const Intervention& rule : rules) plan(reference.model, rule);
  gather(reference);
  ready_ = true;
  require_uniform(reference);
  calls_.clear();
}

void Interventions::put(const std::string& name, const std::string& module, std::string what, Index part,
                        Index parts, Ablation how) {
  Cut cut{std::move(what), part, parts, how, {}, stream_name("intervention." + name)};
  cuts_[module].push_back(std::move(cut));
}

void Interventions::plan(const Transformer& model, const Intervention& rule) {
  bool found = false;
  const Names names = names_of(model);
  for (const auto& [path, attention] : names.sublayers) {
    const bool whole = fits(rule.pattern, path),
               has_heads = attention != nullptr && attention->gates() != nullptr;
    if (whole && rule.how == Ablation::uniform && !has_heads)
      throw ConfigError("error: " + path + "=uniform: this is no attention with heads");
    if (whole && rule.how != Ablation::uniform) put(path, path, "sublayer", 0, 1, rule.how);
    found = found || whole;
    for (Index h = 0; has_heads && h < attention->shape().H; ++h) {
      const bool by_sublayer = whole && rule.how == Ablation::uniform;
      const bool fitting = fits(rule.pattern, head_name(path, h));
      if (!by_sublayer && !fitting) continue;
      found = true;
      if (rule.how == Ablation::uniform && !attention->kind().projections().query)
        continue;  // uniform as it is
      put(head_name(path, h), path, rule.how == Ablation::uniform ? "query" : "heads", h,
          attention->shape().H, rule.how);
    }
  }
  if (found) return;
  std::string text = "error: '" + rule.pattern + "' matches no head and no sublayer; names are such as ";
  const auto all = intervention_names(model);
  for (std::size_t i = 0; i < 3; ++i) text += (i == 0 ? "" : ", ") + all[i * (all.size() - 1) / 2];
  throw ConfigError(text);
}

// What the modules in question give on the reference sentences.
void Interventions::gather(ProbeSubject& reference) {
  std::map<const Cut*, std::vector<Tensor>> rows;
  const auto draws = [](const Cut& cut) {
    return cut.how == Ablation::mean || cut.how == Ablation::resample;
  };
  bool needed = false;
  for (const auto& [module, cuts] : cuts_) needed = needed || std::any_of(cuts.begin(), cuts.end(), draws);
  if (!needed) return;
  if (reference.examples.empty())
    throw ConfigError("error: mean and resample need sentences to take rows from");
  Recorder seen(reference.model,
                [this](const std::string& module, std::string_view) { return cuts_.count(module) > 0; });
  for_each_batch(reference, [&](const ModelInput& input, Index) {
    Tape tape({.training = false});
    reference.model.hidden(tape, input);
    for (const auto& [module, cuts] : cuts_)
      for (const Cut& cut : cuts)
        if (draws(cut)) {
          const Tensor& value = seen.at(module, cut.what);
          const Index width = value.columns() / cut.count;
          rows[&cut].push_back(columns_of(value, cut.first * width, width));
        }
  });
  for (auto& [module, cuts] : cuts_)
    for (Cut& cut : cuts)
      if (draws(cut)) cut.pool = cut.how == Ablation::mean ? mean_of(joined(rows[&cut])) : joined(rows[&cut]);
}

// Zero queries make equal weights where weights are a softmax over dot products; whether they do is looked
// at.
void Interventions::require_uniform(ProbeSubject& reference) {
  const auto is_uniform = [](const Cut& cut) { return cut.how == Ablation::uniform; };
  for (const AttentionPlace& place : attention_places(reference.model)) {
    const auto found = cuts_.find(place.path());
    if (found == cuts_.end() || std::none_of(found->second.begin(), found->second.end(), is_uniform))
      continue;
    ProbeSubject one = reference;
    if (one.examples.empty()) throw ConfigError("error: uniform needs sentences to check it on");
    one.examples.resize(1);
    Recorder seen(one.model, wants_attention);
    for_each_batch(one, [&](const ModelInput& input, Index) {
      Tape tape({.training = false});
      one.model.hidden(tape, input);
      const Mask mask = mask_at(place, one.model.spec(), input);
      const Tensor map = attention_map(place, seen, mask);
      const auto all = map.to_doubles();
      for (const Cut& cut : found->second)
        for (Index t = 0; is_uniform(cut) && t < mask.queries.length(0); ++t) {
          const auto row = all.begin() + (cut.first * map.shape()[2] + t) * map.shape()[3];
          double least = 1, most = 0;
          for (Index s = 0; s < map.shape()[3]; ++s)
            if (row[s] != 0) least = std::min(least, row[s]), most = std::max(most, row[s]);
          if (most - least > 1e-3 * most)
            throw ConfigError("error: " + place.path() +
                              "=uniform: zero queries do not make the weights of this " +
                              "kind of attention equal; train it with attention: uniform instead");
        }
    });
  }
}

// Draws the rows that stand in the place of a part; zeros where it has no pool, whatever an earlier rule
// drew.
void Interventions::fill(const Cut& cut, Index rows, Index columns, std::vector<double>& instead) {
  const Index width = columns / cut.count;
  if (!cut.pool) {
    for (Index i = 0; i < rows; ++i)
      std::fill_n(instead.data() + i * columns + cut.first * width, width, 0.0);
    return;
  }
  const Random random(seed_, cut.stream, calls_[cut.stream]++);
  const auto count = static_cast<std::uint64_t>(cut.pool.rows());
  for (Index i = 0; i < rows; ++i) {
    const auto donor = static_cast<Index>(random.below(static_cast<std::uint64_t>(i), count));
    std::copy_n(cut.pool.data<double>() + donor * width, width,
                instead.data() + i * columns + cut.first * width);
  }
}

// By ops, so that gradients of what stays go on.
Var Interventions::look(const std::string& module, std::string_view what, const Var& value) {
  const auto found = ready_ ? cuts_.find(module) : cuts_.end();
  if (found == cuts_.end()) return value;
  const Index rows = value.value().rows(), columns = value.value().columns();
  std::vector<double> keep, instead;
  for (const Cut& cut : found->second) {
    if (cut.what != what) continue;
    keep.resize(static_cast<std::size_t>(columns), 1.0);
    instead.resize(static_cast<std::size_t>(rows * columns), 0.0);
    const Index width = columns / cut.count;
    std::fill_n(keep.begin() + cut.first * width, width, 0.0);
    fill(cut, rows, columns, instead);
  }
  if (keep.empty()) return value;
  Tape& tape = value.tape();
  const Var kept = multiply(value, tape.constant(Tensor::from({1, columns}, value.type(), keep)));
  return add(kept, tape.constant(Tensor::from(value.shape(), value.type(), instead)));
}

}  // namespace attnlab
