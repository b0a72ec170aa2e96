#include "train/beam.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace attnlab {
namespace {

struct Candidate {
  double log_probability;
  Index parent;
  Token token;
  bool operator<(const Candidate& other) const {  // better ones first; ties by origin, so that order is fixed
    return std::tuple(-log_probability, parent, token) <
           std::tuple(-other.log_probability, other.parent, other.token);
  }
};

bool better(const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; }

// At most one </s> comes from each hypothesis, so that twice the beam is enough to fill it.
std::vector<Candidate> candidates_of(const Search& search, std::span<const std::vector<TokenScore>> rows,
                                     Index beam) {
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const TokenScore& next : rows[i])
      all.push_back(
          {search.live[i].log_probability + next.log_probability, static_cast<Index>(i), next.token});
  const auto wanted = std::min(all.size(), static_cast<std::size_t>(2 * beam));
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(wanted), all.end());
  all.resize(wanted);
  return all;
}

void finish(Search& search, const Candidate& last, const DecodeOptions& options) {
  const auto& ids = search.live[static_cast<std::size_t>(last.parent)].ids;
  const double penalty = length_penalty(static_cast<Index>(ids.size()) + 1, options.spec.length_penalty);
  const Hypothesis done{ids, last.log_probability, last.log_probability / penalty, true};
  auto& pool = search.finished;
  pool.insert(std::upper_bound(pool.begin(), pool.end(), done, better), done);
  if (static_cast<Index>(pool.size()) > options.spec.n_best) pool.pop_back();
}

// A log-probability can only fall and the penalty only grow with length, so that no continuation scores above
// log-probability / penalty(limit).
bool can_stop(const Search& search, const DecodeOptions& options) {
  if (static_cast<Index>(search.finished.size()) < options.spec.n_best) return false;
  if (options.spec.beam == 1) return true;
  if (!options.stop_early) return false;
  const double penalty = length_penalty(search.limit, options.spec.length_penalty);
  return search.live.front().log_probability / penalty <= search.finished.back().score;
}

void cut_all(Search& search, const DecodeOptions& options) {
  const double penalty = length_penalty(search.limit, options.spec.length_penalty);
  for (Search::Ongoing& ongoing : search.live)
    search.cut.push_back(
        {std::move(ongoing.ids), ongoing.log_probability, ongoing.log_probability / penalty, false});
  search.live.clear();
}

}  // namespace

double length_penalty(Index length, double alpha) {
  return std::pow((5.0 + static_cast<double>(length)) / 6.0, alpha);
}

std::vector<Index> advance_beam(Search& search, std::span<const std::vector<TokenScore>> rows,
                                const DecodeOptions& options) {
  const auto beam = static_cast<std::size_t>(options.spec.beam);
  const auto candidates = candidates_of(search, rows, options.spec.beam);
  std::vector<Search::Ongoing> live;
  std::vector<Index> parents;
  for (std::size_t rank = 0; rank < candidates.size(); ++rank) {
    const Candidate& next = candidates[rank];
    if (next.token == options.eos) {
      if (rank < beam) finish(search, next, options);
    } else if (live.size() < beam) {
      live.push_back({search.live[static_cast<std::size_t>(next.parent)].ids, next.log_probability, 0});
      live.back().ids.push_back(next.token);
      parents.push_back(next.parent);
    }
  }
  search.live = std::move(live);
  if (search.live.empty()) return {};
  if (can_stop(search, options))
    search.live.clear();
  else if (static_cast<Index>(search.live.front().ids.size()) >= search.limit)
    cut_all(search, options);
  if (search.live.empty()) parents.clear();
  return parents;
}

std::vector<Hypothesis> best_of(Search search, const DecodeOptions& options) {
  std::vector<Hypothesis> all = std::move(search.finished);
  all.insert(all.end(), search.cut.begin(), search.cut.end());
  if (static_cast<Index>(all.size()) > options.spec.n_best)
    all.resize(static_cast<std::size_t>(options.spec.n_best));
  return all;
}

}  // namespace attnlab
