#include "train/sampling.h"

#include <cmath>
#include <map>

#include "support/catch.h"
#include "train/decode.h"
#include "train/tiny_transformer.h"

using namespace attnlab;

namespace {

using Shares = std::map<Token, double>;

// Pearson's statistic of `count` draws against the expected shares; infinite for a token that has none.
double chi_square(const std::map<Token, Index>& drawn, const Shares& expected, Index count) {
  double sum = 0;
  for (const auto& [token, times] : drawn)
    if (!expected.contains(token)) return HUGE_VAL;
  for (const auto& [token, share] : expected) {
    const double mean = share * static_cast<double>(count);
    const double times = drawn.contains(token) ? static_cast<double>(drawn.at(token)) : 0;
    sum += (times - mean) * (times - mean) / mean;
  }
  return sum;
}

// Twenty thousand draws from one row of logits.
std::map<Token, Index> draws(const std::vector<double>& logits, const DecodeOptions& options) {
  const Index count = 20000, V = static_cast<Index>(logits.size());
  std::vector<double> rows, uniform;
  const Random random(9, stream_name("draws"));
  for (Index i = 0; i < count; ++i) {
    rows.insert(rows.end(), logits.begin(), logits.end());
    uniform.push_back(random.uniform(static_cast<std::uint64_t>(i)));
  }
  std::map<Token, Index> drawn;
  for (const TokenScore& token : draw_tokens(Tensor::from({count, V}, DType::f32, rows), uniform, options))
    ++drawn[token.token];
  return drawn;
}

Shares softmax(const std::vector<double>& logits, const std::vector<Token>& tokens, double temperature) {
  Shares shares;
  double sum = 0;
  for (const Token token : tokens)
    sum += shares[token] = std::exp(logits[static_cast<std::size_t>(token)] / temperature);
  for (auto& [token, share] : shares) share /= sum;
  return shares;
}

const std::vector<double> kLogits{0.5, 9, -1, 2, 1.5, 0, -0.5, 1.5};  // <s> would be the likeliest

}  // namespace

TEST_CASE("words are drawn by their probability") {
  DecodeOptions options;
  // 99.99 % of the chi-square distribution with 6 degrees of freedom lie below 28.
  CHECK(chi_square(draws(kLogits, options), softmax(kLogits, {0, 2, 3, 4, 5, 6, 7}, 1), 20000) < 28);
  options.spec.temperature = 2;
  CHECK(chi_square(draws(kLogits, options), softmax(kLogits, {0, 2, 3, 4, 5, 6, 7}, 2), 20000) < 28);
  CHECK(chi_square(draws(kLogits, options), softmax(kLogits, {0, 2, 3, 4, 5, 6, 7}, 1), 20000) > 100);
}

TEST_CASE("the end is drawn by its probability where it begins sentences, too") {
  DecodeOptions options;
  options.bos = options.eos;
  std::vector<double> logits = kLogits;
  logits[1] = 1;  // a word like others here
  // 99.999 % of the chi-square distribution with 7 degrees of freedom lie below 36.
  CHECK(chi_square(draws(logits, options), softmax(logits, {0, 1, 2, 3, 4, 5, 6, 7}, 1), 20000) < 36);
}

TEST_CASE("top-k and top-p cut the tail and keep the shares of the rest") {
  DecodeOptions options;
  options.spec.top_k = 2;  // 4 and 7 are equal: the smaller id
  CHECK(chi_square(draws(kLogits, options), softmax(kLogits, {3, 4}, 1), 20000) < 20);
  options.spec.top_k = 0;
  const Shares all = softmax(kLogits, {0, 2, 3, 4, 5, 6, 7}, 1);
  options.spec.top_p = all.at(3) + all.at(4) + 0.01;  // needs a third word
  CHECK(chi_square(draws(kLogits, options), softmax(kLogits, {3, 4, 7}, 1), 20000) < 20);
  options.spec.top_p = 0;
  CHECK(draws(kLogits, options) == std::map<Token, Index>{{3, 20000}});
  options.spec.top_p = 1;
  options.spec.top_k = 1;
  CHECK(draws(kLogits, options) == std::map<Token, Index>{{3, 20000}});
}

TEST_CASE("samples of a model follow its distribution and repeat with the seed") {
  const TinyTransformer tiny(ModelKind::encoder_decoder, 8);
  DecodeOptions options;
  options.spec.sample = true;
  options.spec.n_best = 4000;
  options.spec.max_extra = 2;
  const std::vector<std::vector<Token>> sources{{4, 5, kEnd}, {4, 5, kEnd}};
  const auto samples = decode(*tiny.model, sources, options);
  Shares expected;
  double sum = 0;
  const auto next = tiny.next(sources[0], {kBegin});
  for (Token v = 0; v < 8; ++v)
    if (v != kBegin) sum += expected[v] = std::exp(next[static_cast<std::size_t>(v)]);
  for (auto& [token, share] : expected) share /= sum;
  std::map<Token, Index> first;
  for (const Hypothesis& sample : samples[0]) ++first[sample.ids.empty() ? kEnd : sample.ids[0]];
  CHECK(chi_square(first, expected, 4000) < 28);

  const auto ids = [](const std::vector<Hypothesis>& list) {
    std::vector<std::vector<Token>> result;
    for (const Hypothesis& hypothesis : list) result.push_back(hypothesis.ids);
    return result;
  };
  CHECK(ids(samples[0]) == ids(decode(*tiny.model, sources, options)[0]));
  CHECK(ids(samples[0]) != ids(samples[1]));  // the same sentence elsewhere draws anew
  options.seed = 2;
  CHECK(ids(samples[0]) != ids(decode(*tiny.model, sources, options)[0]));
}
