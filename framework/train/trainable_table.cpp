#include <fmt/format.h>

#include <algorithm>

#include "train/trainable.h"

namespace attnlab {
namespace {

/// Parameters that differ in the number of their layer alone.
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
  for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
    const std::size_t end = name.find_first_not_of("0123456789", dot + 1);
    if (end != std::string::npos && end > dot + 1 && name[end] == '.')
      return {name.substr(0, dot + 1), name.substr(end), {std::stoll(name.substr(dot + 1, end))}, &parameter};
  }
  return {name, "", {}, &parameter};
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
