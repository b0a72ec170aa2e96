#include <fmt/format.h>

#include <algorithm>

#include "core/numbered_name.h"
#include "train/trainable.h"

namespace attnlab {
namespace {

// Parameters that differ in the number of their layer alone.
struct Row {
  std::string before, after;  // its name without the number; `after` is empty where it has none
  std::vector<Index> layers;
  const Parameter* first = nullptr;

  std::string name() const {
    if (layers.empty()) return before;
    std::string numbers;
    for (std::size_t from = 0, to = 0; from < layers.size(); from = to) {
      for (to = from + 1; to < layers.size() && layers[to] == layers[to - 1] + 1;) ++to;
      numbers += fmt::format("{}{}", from ? "," : "", layers[from]);
      if (to > from + 1) numbers += fmt::format("-{}", layers[to - 1]);
    }
    return before + numbers + after;
  }
  Index count() const {
    return first->shape().count() * std::max<Index>(1, static_cast<Index>(layers.size()));
  }
};

Row row_of(const Parameter& parameter) {
  const std::string& name = parameter.name();
  const auto part = number_part(name);
  if (!part) return {name, "", {}, &parameter};
  const Index layer = std::stoll(name.substr(part->begin, part->end - part->begin));
  return {name.substr(0, part->begin), name.substr(part->end), {layer}, &parameter};
}

}  // namespace

std::string trainable_table(const ParameterSet& parameters) {
  std::vector<Row> rows;
  Index tensors = 0;
  for (const auto& parameter : parameters.all()) {
    tensors += parameter->trainable() ? 1 : 0;
    const Row row = row_of(*parameter);
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const Row& other) {
      return !row.layers.empty() && other.before == row.before && other.after == row.after &&
             other.first->shape() == parameter->shape() && other.first->trainable() == parameter->trainable();
    });
    if (same == rows.end())
      rows.push_back(row);
    else
      same->layers.push_back(row.layers.front());
  }
  std::size_t width = 4;
  for (const Row& row : rows) width = std::max(width, row.name().size());
  std::string text;
  for (const Row& row : rows)
    text += fmt::format("{:<{}}  {:>16}  {:>12}  {}\n", row.name(), width, join_text(row.first->shape()),
                        row.count(), row.first->trainable() ? "trains" : "frozen");
  return text + fmt::format("{} of {} tensors train, {} of {} numbers\n", tensors, parameters.all().size(),
                            parameters.count(true), parameters.count(false));
}

}  // namespace attnlab
