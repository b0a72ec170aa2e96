#include "config/problems.h"

#include <algorithm>
#include <tuple>

namespace attnlab {
namespace {

constexpr std::size_t kKept = 100;

}  // namespace

void Problems::add(const SourcePosition& position, const std::string& message) {
  if (!seen_.insert(position.text() + ": " + message).second) return;
  if (problems_.size() < kKept) problems_.push_back({position, message});
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
    text += (text.empty() ? "" : "\n") + problem.position.text() + ": error: " + problem.message;
  if (seen_.size() > problems_.size())
    text += "\n… and " + std::to_string(seen_.size() - problems_.size()) + " more";
  return text;
}

}  // namespace attnlab
