#include "train/decode.h"

#include <algorithm>
#include <numeric>

#include "train/interrupt.h"
#include "train/sampling.h"

namespace attnlab {
namespace {

using Inputs = std::vector<std::vector<Token>>;

TokenRows rows_of(const Inputs& inputs, const std::vector<Search>& searches, Index copies) {
  TokenRows result;
  std::vector<Index> lengths;
  for (const Search& search : searches) {
    const auto& ids = inputs[static_cast<std::size_t>(search.sentence)];
    for (Index i = 0; i < copies; ++i) {
      result.ids.insert(result.ids.end(), ids.begin(), ids.end());
      lengths.push_back(static_cast<Index>(ids.size()));
    }
  }
  result.rows = Sequences::of_lengths(lengths);
  return result;
}

TokenRows one_each(std::vector<Token> tokens) {
  const auto count = static_cast<Index>(tokens.size());
  return {std::move(tokens), Sequences::equal(count, 1)};
}

// Tokens that may be written: the smaller of the two limits in the spec, at least one word and </s>, and no
// more than learned positions have room for.
Index limit_of(const Transformer& model, const std::vector<Token>& input, const DecodeSpec& spec) {
  const auto length = static_cast<Index>(input.size());
  const bool prompted = !model.spec().has_encoder();
  Index limit = prompted ? spec.max_extra : length + spec.max_extra;
  if (!prompted && spec.max_ratio * static_cast<double>(length) < static_cast<double>(limit))
    limit = static_cast<Index>(spec.max_ratio * static_cast<double>(length));
  limit = std::max<Index>(limit, prompted ? 1 : 2);
  const PositionSpec& positions = model.spec().positions;
  const Index read_first = prompted ? length : 1;  // the last token written is never read
  if (positions.kind == PositionKind::learned) limit = std::min(limit, positions.max_length - read_first + 1);
  return std::max<Index>(limit, 1);
}

// One batch of sentences on its way through the model.
class BatchSearch {
 public:
  BatchSearch(const Transformer& model, const Inputs& inputs, std::vector<Search>& searches,
              const DecodeOptions& options)
      : model_(model), searches_(searches), options_(options) {
    const Index copies = options.spec.sample ? options.spec.n_best : 1;
    const auto sentences = static_cast<Index>(searches.size());
    const TokenRows rows = rows_of(inputs, searches, model.spec().has_encoder() ? 1 : copies);
    if (model.spec().has_encoder()) {
      state_ = model.start(tape_, rows, copies);
      const auto count = static_cast<std::size_t>(sentences * copies);
      logits_ = model.step(tape_, state_, one_each(std::vector<Token>(count, options.bos))).value();
    } else {
      state_ = model.start(sentences * copies);
      logits_ = model.step(tape_, state_, rows).value();
    }
  }

  void run() {
    while (true) {
      throw_if_interrupted();
      const std::vector<Index> parents = options_.spec.sample ? sample() : search();
      if (parents.empty()) return;
      std::vector<Token> tokens;
      for (const Search& each : searches_)
        for (const Search::Ongoing& ongoing : each.live) tokens.push_back(ongoing.ids.back());
      if (!unchanged(parents)) model_.reorder(state_, parents);
      logits_ = model_.step(tape_, state_, one_each(std::move(tokens))).value();
    }
  }

 private:
  bool unchanged(const std::vector<Index>& parents) const {
    if (parents.size() != state_.sentence.size()) return false;
    for (std::size_t i = 0; i < parents.size(); ++i)
      if (parents[i] != static_cast<Index>(i)) return false;
    return true;
  }

  // Lets each sentence take its step on its own rows; what it returns counts from the first of them.
  template <class Advance>
  std::vector<Index> advance_all(const Advance& advance) {
    std::vector<Index> parents;
    std::size_t first = 0;
    for (Search& each : searches_) {
      const std::size_t count = each.live.size();
      if (count == 0) continue;
      for (const Index parent : advance(each, first, count))
        parents.push_back(static_cast<Index>(first) + parent);
      first += count;
    }
    return parents;
  }

  std::vector<Index> search() {
    const Index beam = options_.spec.beam;
    const auto best = best_tokens(logits_, beam == 1 ? 1 : beam + 1, options_.never());
    const std::span<const std::vector<TokenScore>> rows(best);
    return advance_all([this, rows](Search& each, std::size_t first, std::size_t count) {
      return advance_beam(each, rows.subspan(first, count), options_);
    });
  }

  std::vector<Index> sample() {
    std::vector<double> uniform;
    for (const Search& each : searches_)
      for (const double number : sampling_numbers(each, options_)) uniform.push_back(number);
    const auto drawn = draw_tokens(logits_, uniform, options_);
    const std::span<const TokenScore> rows(drawn);
    return advance_all([this, rows](Search& each, std::size_t first, std::size_t count) {
      return advance_samples(each, rows.subspan(first, count), options_);
    });
  }

  const Transformer& model_;
  std::vector<Search>& searches_;
  const DecodeOptions& options_;
  Tape tape_{{.training = false}};
  DecoderState state_;
  Tensor logits_;
};

Search search_of(const Transformer& model, const Inputs& inputs, Index sentence,
                 const DecodeOptions& options) {
  const auto& input = inputs[static_cast<std::size_t>(sentence)];
  Search search;
  search.sentence = sentence;
  search.number =
      options.sentences.empty() ? sentence : options.sentences.at(static_cast<std::size_t>(sentence));
  search.limit = limit_of(model, input, options.spec);
  if (!options.spec.sample) return search;
  const auto samples = static_cast<std::size_t>(options.spec.n_best);
  search.live.resize(samples);
  search.samples.resize(samples);
  for (std::size_t i = 0; i < samples; ++i) search.live[i].sample = static_cast<Index>(i);
  return search;
}

// The best label of each source token.
std::vector<Hypothesis> label(const std::vector<std::vector<TokenScore>>& best, Index first, Index count,
                              const DecodeOptions& options) {
  check(first + count <= static_cast<Index>(best.size()), "decoding: labels of ", best.size(),
        " rows, but source tokens up to ", first + count);
  Hypothesis result;
  result.finished = true;
  for (Index i = first; i < first + count; ++i) {
    const TokenScore& token = best[static_cast<std::size_t>(i)].front();
    result.ids.push_back(token.token);
    result.log_probability += token.log_probability;
  }
  if (!result.ids.empty() && result.ids.back() == options.eos) result.ids.pop_back();
  result.score = result.log_probability / length_penalty(count, options.spec.length_penalty);
  return {result};
}

using Decoded = std::vector<std::vector<Hypothesis>>;

void label_batch(const Transformer& model, const Inputs& inputs, const std::vector<Search>& searches,
                 const DecodeOptions& options, Decoded& results) {
  Tape tape({.training = false});
  const TokenRows source = rows_of(inputs, searches, 1);
  const auto best = best_tokens(model.logits(tape, {source, {}, {}}).value(), 1, options.never());
  for (std::size_t b = 0; b < searches.size(); ++b) {
    const auto i = static_cast<Index>(b);
    results[static_cast<std::size_t>(searches[b].sentence)] =
        label(best, source.rows.offset(i), source.rows.length(i), options);
  }
}

void write_batch(const Transformer& model, const Inputs& inputs, std::vector<Search>& searches,
                 const DecodeOptions& options, Decoded& results) {
  BatchSearch(model, inputs, searches, options).run();
  for (Search& search : searches) {
    auto& result = results[static_cast<std::size_t>(search.sentence)];
    result = options.spec.sample ? std::move(search.samples) : best_of(std::move(search), options);
  }
}

}  // namespace

std::vector<std::vector<Hypothesis>> decode(const Transformer& model,
                                            const std::vector<std::vector<Token>>& inputs,
                                            const DecodeOptions& options) {
  const DecodeSpec& spec = options.spec;
  check(!model.spec().pooled(), "decoding: a pooled head labels whole examples and writes nothing");
  check(spec.beam >= 1 && spec.n_best >= 1 && spec.batch_sentences >= 1 && spec.length_penalty >= 0,
        "decoding: beam, n_best and batch_sentences must be at least 1, length_penalty at least 0");
  check(spec.sample || spec.n_best <= spec.beam, "decoding: n_best is ", spec.n_best, ", but the beam is ",
        spec.beam);
  std::vector<Index> order(inputs.size());
  std::iota(order.begin(), order.end(), Index{0});
  const auto length = [&inputs](Index i) { return inputs[static_cast<std::size_t>(i)].size(); };
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return length(a) > length(b); });
  for (const auto& input : inputs)
    check(model.spec().has_encoder() || !input.empty(), "decoding: a language model needs a prompt");
  Decoded results(inputs.size());
  for (std::size_t begin = 0; begin < order.size(); begin += static_cast<std::size_t>(spec.batch_sentences)) {
    std::vector<Search> searches;
    const std::size_t end = std::min(order.size(), begin + static_cast<std::size_t>(spec.batch_sentences));
    for (std::size_t i = begin; i < end; ++i) searches.push_back(search_of(model, inputs, order[i], options));
    if (model.spec().has_decoder())
      write_batch(model, inputs, searches, options, results);
    else
      label_batch(model, inputs, searches, options, results);
  }
  return results;
}

DecodeOptions decode_options(const DecodeSpec& spec, const Tokenizer& target, std::uint64_t seed) {
  DecodeOptions options;
  options.spec = spec;
  options.bos = target.bos();
  options.eos = target.eos();
  options.seed = seed;
  return options;
}

std::vector<std::string> best_lines(const std::vector<std::vector<Hypothesis>>& decoded,
                                    const Tokenizer& target) {
  std::vector<std::string> lines;
  for (const auto& hypotheses : decoded) lines.push_back(target.decode(hypotheses.front().ids));
  return lines;
}

}  // namespace attnlab
