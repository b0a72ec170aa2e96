#include "config/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace attnlab {
namespace {

constexpr std::size_t kKept = 100;

}  // namespace

void Problems::add(const SourcePosition& position, const std::string& message) {
  if (!seen_.insert(position.text() + ": " + message).second) return;
  if (full()) return;
  std::string line = message;  // one line, whatever it quotes
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  problems_.push_back({position, std::move(line)});
}

void Problems::add(const Problems& others) {
  for (const Problem& problem : others.problems_) add(problem.position, problem.message);
  seen_.insert(others.seen_.begin(), others.seen_.end());  // those that are only counted
}

bool Problems::full() const { return problems_.size() >= kKept; }

std::string Problems::text(const std::vector<std::string>& file_order) const {
  const auto key = [&file_order](const Problem& problem) {
    const std::string file = problem.position.file ? *problem.position.file : "";
    const auto rank = std::find(file_order.begin(), file_order.end(), file) - file_order.begin();
    return std::make_tuple(rank, problem.position.line, problem.position.column);
  };
  std::vector<Problem> sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&key](const Problem& a, const Problem& b) { return key(a) < key(b); });
  std::string text;
  for (const Problem& problem : sorted)
    text +=
        fmt::format("{}{}: error: {}", text.empty() ? "" : "\n", problem.position.text(), problem.message);
  if (seen_.size() > problems_.size())
    text += fmt::format("\n… and {} more", seen_.size() - problems_.size());
  return text;
}

}  // namespace attnlab
