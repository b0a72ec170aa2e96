#include "train/bleu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "config/registry.h"
#include "data/unicode.h"

namespace attnlab {
namespace {

constexpr std::size_t kOrders = 4;
using Counts = std::unordered_map<std::string, Index>;

// All n-grams of one order; tokens hold no space, so joining with spaces keeps different n-grams apart.
Counts ngrams(const std::vector<std::string>& tokens, std::size_t order) {
  Counts counts;
  for (std::size_t i = 0; i + order <= tokens.size(); ++i) {
    std::string ngram = tokens[i];
    for (std::size_t k = 1; k < order; ++k) ngram += ' ' + tokens[i + k];
    ++counts[ngram];
  }
  return counts;
}

// Of lengths equally close, the shorter.
std::size_t closest_length(std::size_t length, const std::vector<std::vector<std::string>>& references) {
  const auto distance = [length](std::size_t other) {
    return other > length ? other - length : length - other;
  };
  std::size_t best = references.front().size();
  for (const auto& reference : references) {
    const std::size_t size = reference.size();
    if (distance(size) < distance(best) || (distance(size) == distance(best) && size < best)) best = size;
  }
  return best;
}

SegmentStatistics segment_statistics(const std::vector<std::string>& hypothesis,
                                     const std::vector<std::vector<std::string>>& references) {
  SegmentStatistics result{static_cast<double>(hypothesis.size()),
                           static_cast<double>(closest_length(hypothesis.size(), references))};
  result.resize(2 + 2 * kOrders);
  for (std::size_t order = 1; order <= kOrders; ++order) {
    Counts allowed;
    for (const auto& reference : references) {
      for (const auto& [ngram, count] : ngrams(reference, order)) {
        allowed[ngram] = std::max(allowed[ngram], count);
      }
    }
    Index matches = 0, total = 0;
    for (const auto& [ngram, count] : ngrams(hypothesis, order)) {
      total += count;
      const auto found = allowed.find(ngram);
      if (found != allowed.end()) matches += std::min(count, found->second);
    }
    result[1 + order] = static_cast<double>(matches);
    result[1 + kOrders + order] = static_cast<double>(total);
  }
  return result;
}

struct Precisions {
  std::array<double, kOrders> percent{};
  std::size_t orders = kOrders;  // that count in the geometric mean
};

Precisions smoothed_precisions(const BleuSpec& spec, const SegmentStatistics& sum) {
  const double value = spec.smooth_value.value_or(spec.smoothing == BleuSmoothing::floor ? 0.1 : 1.0);
  Precisions result;
  double halvings = 1;
  for (std::size_t n = 0; n < kOrders; ++n) {
    const double added = spec.smoothing == BleuSmoothing::add_k && n > 0 ? value : 0;
    const double matches = sum[2 + n] + added, total = sum[2 + kOrders + n] + added;
    if (total == 0) break;
    if (spec.effective_order) result.orders = n + 1;
    if (matches > 0) {
      result.percent[n] = 100 * matches / total;
    } else if (spec.smoothing == BleuSmoothing::exp) {
      halvings *= 2;
      result.percent[n] = 100 / (halvings * total);
    } else if (spec.smoothing == BleuSmoothing::floor) {
      result.percent[n] = 100 * value / total;
    }
  }
  return result;
}

double geometric_mean(const Precisions& precisions) {
  double sum = 0;
  for (std::size_t n = 0; n < precisions.orders; ++n) {
    if (precisions.percent[n] == 0) return 0;
    sum += std::log(precisions.percent[n]);
  }
  return std::exp(sum / static_cast<double>(precisions.orders));
}

const Registered<ScoreSpec, BleuSpec> registered{"bleu", "BLEU as sacreBLEU computes it"};

}  // namespace

void BleuSpec::fields(Fields& f) {
  f.choice("tokenize", tokenize,
           {{"13a", BleuTokens::thirteen_a},
            {"intl", BleuTokens::intl},
            {"char", BleuTokens::character},
            {"none", BleuTokens::none}},
           "how lines are cut before counting n-grams");
  f("lowercase", lowercase, "ignore case");
  f.choice("smoothing", smoothing,
           {{"exp", BleuSmoothing::exp},
            {"floor", BleuSmoothing::floor},
            {"add-k", BleuSmoothing::add_k},
            {"none", BleuSmoothing::none}},
           "what an order without matches counts");
  f("smooth_value", smooth_value, at_least(0), "of floor (unset: 0.1) and add-k (unset: 1)");
  f("effective_order", effective_order, "leave out orders longer than the text; for single sentences");
}

SegmentStatistics BleuSpec::segment(std::size_t i, const Lines& hypotheses,
                                    const std::vector<Lines>& references) const {
  const auto tokens = [this](const std::string& line) {
    return bleu_tokens(tokenize, lowercase ? lowercased(line) : line);
  };
  std::vector<std::vector<std::string>> reference_tokens;
  for (const Lines& lines : references) reference_tokens.push_back(tokens(lines[i]));
  return segment_statistics(tokens(hypotheses[i]), reference_tokens);
}

Score BleuSpec::score(const SegmentStatistics& sum, std::size_t reference_sets) const {
  const double length = sum[0], reference_length = sum[1];
  double penalty = 1;
  if (length < reference_length) penalty = length > 0 ? std::exp(1 - reference_length / length) : 0;
  const bool any_match =
      std::any_of(sum.begin() + 2, sum.begin() + 2 + kOrders, [](double x) { return x > 0; });
  const Precisions precisions = any_match ? smoothed_precisions(*this, sum) : Precisions{};
  const auto& p = precisions.percent;
  Score result{"BLEU", any_match ? penalty * geometric_mean(precisions) : 0, {}, signature(reference_sets)};
  result.details = fmt::format(
      "{:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {:.0f} ref_len = {:.0f})", p[0],
      p[1], p[2], p[3], penalty, reference_length > 0 ? length / reference_length : 0, length,
      reference_length);
  return result;
}

std::string BleuSpec::signature(std::size_t reference_sets) const {
  std::string smooth;
  switch (smoothing) {
    case BleuSmoothing::exp:
      smooth = "exp";
      break;
    case BleuSmoothing::floor:
      smooth = fmt::format("floor[{:.2f}]", smooth_value.value_or(0.1));
      break;
    case BleuSmoothing::add_k:
      smooth = fmt::format("add-k[{:.2f}]", smooth_value.value_or(1));
      break;
    case BleuSmoothing::none:
      smooth = "none";
      break;
  }
  return score_signature(reference_sets,
                         fmt::format("case:{}|eff:{}|tok:{}|smooth:{}", lowercase ? "lc" : "mixed",
                                     effective_order ? "yes" : "no", to_string(tokenize), smooth));
}

}  // namespace attnlab
