#include "train/chrf.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "config/registry.h"
#include "data/unicode.h"
#include "data/utf8.h"

namespace attnlab {
namespace {

struct ChrfPlusPlusSpec final : ChrfSpec {
  ChrfPlusPlusSpec() { word_order = 2; }
};
const Registered<ScoreSpec, ChrfSpec> registered{"chrf", "chrF as sacreBLEU computes it"};
const Registered<ScoreSpec, ChrfPlusPlusSpec> registered_plus{"chrf++", "chrF with words and word pairs"};

using Counts = std::unordered_map<std::string, Index>;
using Orders = std::vector<Counts>;  // of one line: an entry for each character order, then each word order

std::string without_spaces(std::string_view line) {
  std::string out;
  for (const std::string_view piece : split_at_spaces(line)) out += piece;
  return out;
}

Counts character_ngrams(const std::vector<std::string_view>& letters, std::size_t order) {
  Counts counts;
  for (std::size_t i = 0; i + order <= letters.size(); ++i) {
    const char* const end = letters[i + order - 1].data() + letters[i + order - 1].size();
    ++counts[std::string(letters[i].data(), end)];
  }
  return counts;
}

bool is_ascii_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

// Words, with one ASCII punctuation mark split off: the last character, or else the first.
std::vector<std::string> chrf_words(std::string_view line) {
  std::vector<std::string> words;
  for (const std::string_view word : split_at_spaces(line)) {
    if (characters(word).size() > 1 && is_ascii_punctuation(word.back())) {
      words.emplace_back(word.substr(0, word.size() - 1));
      words.emplace_back(1, word.back());
    } else if (word.size() > 1 && is_ascii_punctuation(word.front())) {
      words.emplace_back(1, word.front());
      words.emplace_back(word.substr(1));
    } else {
      words.emplace_back(word);
    }
  }
  return words;
}

Counts word_ngrams(const std::vector<std::string>& words, std::size_t order) {
  Counts counts;
  for (std::size_t i = 0; i + order <= words.size(); ++i) {
    std::string ngram = words[i];
    for (std::size_t k = 1; k < order; ++k) ngram += ' ' + words[i + k];
    ++counts[ngram];
  }
  return counts;
}

Orders all_ngrams(const ChrfSpec& spec, const std::string& line) {
  const std::string cased = spec.lowercase ? lowercased(line) : line;
  const std::string text = spec.whitespace ? cased : without_spaces(cased);
  const std::vector<std::string_view> letters = characters(text);
  Orders orders;
  for (Index n = 1; n <= spec.char_order; ++n) {
    orders.push_back(character_ngrams(letters, static_cast<std::size_t>(n)));
  }
  const std::vector<std::string> words = chrf_words(cased);
  for (Index n = 1; n <= spec.word_order; ++n) {
    orders.push_back(word_ngrams(words, static_cast<std::size_t>(n)));
  }
  return orders;
}

SegmentStatistics match(const Orders& hypothesis, const Orders& reference) {
  SegmentStatistics result;
  for (std::size_t n = 0; n < hypothesis.size(); ++n) {
    Index total = 0, reference_total = 0, matches = 0;
    for (const auto& [ngram, count] : reference[n]) reference_total += count;
    for (const auto& [ngram, count] : hypothesis[n]) {
      const auto found = reference[n].find(ngram);
      total += count;
      if (found != reference[n].end()) matches += std::min(count, found->second);
    }
    if (reference_total == 0) total = 0;  // an order that the reference is too short for says nothing
    for (const Index value : {total, reference_total, matches}) result.push_back(static_cast<double>(value));
  }
  return result;
}

// F_beta, in percent, of precision and recall averaged over the orders that both sides have.
double f_score(const SegmentStatistics& sum, double beta) {
  double precision = 0, recall = 0, orders = 0;
  for (std::size_t i = 0; i + 2 < sum.size(); i += 3) {
    if (sum[i] == 0 || sum[i + 1] == 0) continue;
    precision += sum[i + 2] / sum[i];
    recall += sum[i + 2] / sum[i + 1];
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  const double factor = beta * beta;
  return 100 * (1 + factor) * precision * recall / (factor * precision + recall);
}

}  // namespace

void ChrfSpec::fields(Fields& f) {
  f("char_order", char_order, between(1, 20), "longest character n-gram");
  f("word_order", word_order, between(0, 20), "longest word n-gram; 2 is chrF++");
  f("beta", beta, between(1, 100), "how many times more recall weighs than precision");
  f("lowercase", lowercase, "ignore case");
  f("whitespace", whitespace, "count spaces as characters");
}

SegmentStatistics ChrfSpec::segment(std::size_t i, const Lines& hypotheses,
                                    const std::vector<Lines>& references) const {
  const Orders ngrams = all_ngrams(*this, hypotheses[i]);
  double best = -1;
  SegmentStatistics best_statistics;
  for (const Lines& lines : references) {
    SegmentStatistics statistics = match(ngrams, all_ngrams(*this, lines[i]));
    const double value = f_score(statistics, static_cast<double>(beta));
    if (value <= best) continue;
    best = value;
    best_statistics = std::move(statistics);
  }
  return best_statistics;
}

Score ChrfSpec::score(const SegmentStatistics& sum, std::size_t reference_sets) const {
  const std::string name =
      fmt::format("chrF{}{}", beta, std::string(static_cast<std::size_t>(word_order), '+'));
  return {name, f_score(sum, static_cast<double>(beta)), {}, signature(reference_sets)};
}

std::string ChrfSpec::signature(std::size_t reference_sets) const {
  return score_signature(reference_sets,
                         fmt::format("case:{}|eff:yes|nc:{}|nw:{}|space:{}", lowercase ? "lc" : "mixed",
                                     char_order, word_order, whitespace ? "yes" : "no"));
}

}  // namespace attnlab
