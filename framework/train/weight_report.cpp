#include "train/weight_report.h"

#include <fmt/format.h>

#include "core/numbered_name.h"

namespace attnlab {
namespace {

constexpr std::size_t kShown = 24, kShownInErrors = 6;

std::string noted(const std::string& name, const std::string& note) {
  return note.empty() ? name : name + " (" + note + ")";
}

// Items in their order, those that differ by the layer alone as one; of those, so many are shown.
std::string folded(const std::vector<WeightReport::Item>& items, std::size_t shown) {
  struct Group {
    std::string text, only;
    std::size_t count;
  };
  std::vector<Group> groups;
  for (const auto& item : items) {
    const std::string text = noted(without_numbers(item.name), item.note);
    std::size_t i = 0;
    while (i < groups.size() && groups[i].text != text) ++i;
    if (i == groups.size()) groups.push_back({text, noted(item.name, item.note), 0});
    ++groups[i].count;
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(groups.size(), shown); ++i)
    text += (i == 0 ? "" : ", ") +
            (groups[i].count == 1 ? groups[i].only : fmt::format("{} x{}", groups[i].text, groups[i].count));
  return groups.size() > shown ? text + fmt::format(", and {} more", groups.size() - shown) : text;
}

}  // namespace

std::string WeightReport::text() const {
  std::string text = fmt::format("used        {} tensors, {} numbers", used.size(), numbers);
  const auto line = [&text](const char* what, const std::vector<Item>& items) {
    if (!items.empty()) text += fmt::format("\n{:<11} {}: {}", what, items.size(), folded(items, kShown));
  };
  line("transposed", transposed);
  line("cut", cut);
  line("tied", tied);
  line("missing", fresh);
  line("unused", unused);
  line("unexplained", unexplained);
  return text;
}

std::string WeightReport::problems() const {
  if (unexplained.empty()) return {};
  return folded(unexplained, kShownInErrors) +
         "\nmodel.allow lists patterns of tensors that may stay unused; model.reinit patterns of parameters "
         "that keep their initial values";
}

}  // namespace attnlab
