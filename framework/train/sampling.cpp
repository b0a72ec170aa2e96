#include "train/sampling.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "core/random.h"

namespace attnlab {
namespace {

struct Word {
  double logit;
  Token token;
  bool operator<(const Word& other) const {
    return logit > other.logit || (logit == other.logit && token < other.token);
  }
};

// The words that may be drawn, with their weights: by id without cuts, otherwise the best first.
struct Choice {
  std::vector<Word> words;
  std::vector<double> weights;
  double total = 0;
};

void weigh(Choice& choice, double temperature) {
  double largest = -HUGE_VAL;
  for (const Word& word : choice.words) largest = std::max(largest, word.logit);
  for (const Word& word : choice.words) {
    choice.weights.push_back(std::exp((word.logit - largest) / temperature));
    choice.total += choice.weights.back();
  }
}

// Keeps the shortest beginning whose weights reach the share top_p, and at least one word.
void keep_share(Choice& choice, double top_p) {
  double sum = 0;
  std::size_t kept = 0;
  while (kept < choice.words.size() && (kept == 0 || sum < top_p * choice.total))
    sum += choice.weights[kept++];
  choice.words.resize(kept);
  choice.weights.resize(kept);
  choice.total = sum;
}

Choice choice_of(std::vector<Word> words, const DecodeSpec& spec) {
  const auto top = static_cast<std::size_t>(spec.top_k);
  const bool cut = top > 0 && top < words.size();
  if (cut) {
    std::partial_sort(words.begin(), words.begin() + spec.top_k, words.end());
    words.resize(top);
  } else if (spec.top_p < 1) {
    std::sort(words.begin(), words.end());
  }
  Choice choice{std::move(words), {}, 0};
  weigh(choice, spec.temperature);
  if (spec.top_p < 1) keep_share(choice, spec.top_p);
  return choice;
}

Word draw(const Choice& choice, double uniform) {
  double sum = 0;
  for (std::size_t i = 0; i < choice.words.size(); ++i) {
    sum += choice.weights[i];
    if (uniform * choice.total < sum) return choice.words[i];
  }
  return choice.words.back();  // rounding
}

}  // namespace

std::vector<TokenScore> draw_tokens(const Tensor& logits, const std::vector<double>& uniform,
                                    const DecodeOptions& options) {
  check(static_cast<Index>(uniform.size()) == logits.rows(), "sampling: ", uniform.size(), " numbers for ",
        logits.rows(), " rows");
  const auto normalisers = log_normalisers(logits);
  std::vector<TokenScore> drawn(uniform.size());
  dispatch(logits.type(), [&](auto zero) {
    using T = decltype(zero);
    parallel_items(logits.rows(), [&](Index i) {
      const T* row = logits.data<T>() + i * logits.row_stride();
      std::vector<Word> words;
      for (Index j = 0; j < logits.columns(); ++j)
        if (j != options.never())
          words.push_back({static_cast<double>(static_cast<Accumulator<T>>(row[j])), static_cast<Token>(j)});
      const auto n = static_cast<std::size_t>(i);
      const Word word = draw(choice_of(std::move(words), options.spec), uniform[n]);
      drawn[n] = {word.token, word.logit - normalisers[n]};
    });
  });
  return drawn;
}

std::vector<double> sampling_numbers(const Search& search, const DecodeOptions& options) {
  const Random random(options.seed, stream_name("decode.sample"), static_cast<std::uint64_t>(search.number));
  std::vector<double> numbers;
  for (const Search::Ongoing& ongoing : search.live)
    numbers.push_back(
        random.uniform((static_cast<std::uint64_t>(ongoing.sample) << 32) + ongoing.ids.size()));
  return numbers;
}

std::vector<Index> advance_samples(Search& search, std::span<const TokenScore> drawn,
                                   const DecodeOptions& options) {
  std::vector<Search::Ongoing> live;
  std::vector<Index> parents;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    Search::Ongoing& ongoing = search.live[i];
    ongoing.log_probability += drawn[i].log_probability;
    const bool ends = drawn[i].token == options.eos;
    if (!ends) ongoing.ids.push_back(drawn[i].token);
    const auto length = static_cast<Index>(ongoing.ids.size()) + (ends ? 1 : 0);
    if (!ends && length < search.limit) {
      live.push_back(std::move(ongoing));
      parents.push_back(static_cast<Index>(i));
      continue;
    }
    const double penalty = length_penalty(length, options.spec.length_penalty);
    search.samples[static_cast<std::size_t>(ongoing.sample)] = {
        std::move(ongoing.ids), ongoing.log_probability, ongoing.log_probability / penalty, ends};
  }
  search.live = std::move(live);
  return parents;
}

}  // namespace attnlab
