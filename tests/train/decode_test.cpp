#include "train/decode.h"

#include <algorithm>
#include <set>

#include "support/catch.h"
#include "train/tiny_transformer.h"

using namespace attnlab;

namespace {

using Ids = std::vector<Token>;

DecodeOptions options_of(Index beam, Index n_best, double alpha, double max_ratio = 3) {
  DecodeOptions options;
  options.spec.beam = beam;
  options.spec.n_best = n_best;
  options.spec.length_penalty = alpha;
  options.spec.max_ratio = max_ratio;
  return options;
}

// The likeliest word again and again, without caches; `never` is left out if it is no negative number.
Ids greedy_by_hand(const TinyTransformer& tiny, const Ids& source, Ids before, Index limit,
                   Token never = kBegin, Token end = kEnd) {
  Ids written;
  while (static_cast<Index>(written.size()) < limit) {
    std::vector<double> next = tiny.next(source, before);
    if (never >= 0) next[static_cast<std::size_t>(never)] = -HUGE_VAL;
    const auto best = static_cast<Token>(std::max_element(next.begin(), next.end()) - next.begin());
    if (best == end) break;
    written.push_back(best);
    before.push_back(best);
  }
  return written;
}

// All sentences of at most `limit` tokens that end, by score.
std::vector<Hypothesis> all_sentences(const TinyTransformer& tiny, const Ids& source, Index V, Index limit,
                                      double alpha) {
  std::vector<Example> examples;
  std::vector<Ids> begun{{kBegin}};
  for (Index length = 1; length <= limit; ++length) {
    std::vector<Ids> longer;
    for (const Ids& ids : begun) {
      examples.push_back({source, ids});
      examples.back().target.push_back(kEnd);
      for (Token token = 0; token < V; ++token)
        if (token != kBegin && token != kEnd) {
          longer.push_back(ids);
          longer.back().push_back(token);
        }
    }
    begun = longer;
  }
  const auto scores = score_reference(*tiny.model, examples);
  std::vector<Hypothesis> all;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const Ids& target = examples[i].target;
    const double value = scores[i].log_probability;
    all.push_back({Ids(target.begin() + 1, target.end() - 1), value,
                   value / std::pow((5.0 + static_cast<double>(scores[i].tokens)) / 6.0, alpha), true});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  return all;
}

bool same(const std::vector<Hypothesis>& a, const std::vector<Hypothesis>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Hypothesis& x, const Hypothesis& y) {
    return x.ids == y.ids && x.log_probability == y.log_probability && x.score == y.score &&
           x.finished == y.finished;
  });
}

const ModelKind kTranslator = ModelKind::encoder_decoder;

}  // namespace

TEST_CASE("a beam as wide as the search space finds the best sentences of all") {
  const Index V = 6;
  const TinyTransformer tiny(kTranslator, V);
  const std::vector<Ids> sources{{4, kEnd}, {5, 3, kEnd}, {kEnd}, {3, 3, kEnd}};
  for (const double alpha : {0.0, 0.6, 2.0}) {
    DecodeOptions options = options_of(4 * 4 * 4 * 4 * 4, 12, alpha);
    options.spec.max_ratio = 100;
    options.spec.max_extra = 2;
    for (const Ids& source : sources) {
      const Index limit = static_cast<Index>(source.size()) + 2;
      const auto found = decode(*tiny.model, {source}, options).front();
      const auto expected = all_sentences(tiny, source, V, limit, alpha);
      REQUIRE(found.size() == 12);
      for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i].ids == expected[i].ids);
        CHECK(found[i].finished);
        CHECK(found[i].score == Approx(expected[i].score).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("a beam of one is greedy") {
  const Index V = 20;
  const TinyTransformer tiny(kTranslator, V);
  const auto sources = tiny_sources(12, V);
  const auto decoded = decode(*tiny.model, sources, options_of(1, 1, 0.6));
  std::set<std::size_t> lengths;
  for (std::size_t b = 0; b < sources.size(); ++b) {
    const auto limit = static_cast<Index>(3 * sources[b].size());
    const Hypothesis& best = decoded[b].front();
    CHECK(best.ids == greedy_by_hand(tiny, sources[b], {kBegin}, limit));
    CHECK(best.finished == (static_cast<Index>(best.ids.size()) < limit));
    lengths.insert(best.ids.size());
  }
  CHECK(lengths.size() > 2);  // the model says different things
}

TEST_CASE("stopping early loses nothing") {
  const Index V = 14;
  const TinyTransformer tiny(kTranslator, V);
  const auto sources = tiny_sources(16, V);
  for (const double alpha : {0.0, 0.6, 1.0, 3.0})
    for (const Index beam : {2, 3, 6}) {
      for (const Index n_best : {Index{1}, beam}) {
        DecodeOptions options = options_of(beam, n_best, alpha);
        const auto early = decode(*tiny.model, sources, options);
        options.stop_early = false;
        const auto late = decode(*tiny.model, sources, options);
        for (std::size_t b = 0; b < sources.size(); ++b) CHECK(same(early[b], late[b]));
      }
    }
}

TEST_CASE("n-best lists are sorted and distinct, finished ones first") {
  const Index V = 14;
  const TinyTransformer tiny(kTranslator, V);
  Index finished = 0, cut = 0;
  for (const auto& list : decode(*tiny.model, tiny_sources(16, V), options_of(6, 6, 0.6))) {
    CHECK(list.size() == 6);
    std::set<Ids> different;
    for (std::size_t i = 0; i < list.size(); ++i) {
      different.insert(list[i].ids);
      ++(list[i].finished ? finished : cut);
      if (i == 0 || list[i].finished != list[i - 1].finished) continue;
      CHECK(list[i].score <= list[i - 1].score);
    }
    CHECK(std::is_partitioned(list.begin(), list.end(), [](const Hypothesis& h) { return h.finished; }));
    CHECK(different.size() == list.size());
  }
  CHECK(finished > 0);
}

TEST_CASE("what is decoded does not depend on what is decoded beside it") {
  const Index V = 20;
  const TinyTransformer tiny(kTranslator, V);
  const auto sources = tiny_sources(11, V);
  for (const bool sample : {false, true}) {
    DecodeOptions options = options_of(4, 3, 0.6);
    options.spec.sample = sample;
    const auto together = decode(*tiny.model, sources, options);
    for (const Index batch : {1, 4}) {
      options.spec.batch_sentences = batch;
      const auto apart = decode(*tiny.model, sources, options);
      for (std::size_t b = 0; b < sources.size(); ++b) CHECK(same(together[b], apart[b]));
    }
  }
}

TEST_CASE("scores are those of forced decoding") {
  const Index V = 20;
  for (const DType type : {DType::f64, DType::f32, DType::bf16}) {
    const TinyTransformer tiny(kTranslator, V, type);
    const auto sources = tiny_sources(8, V);
    for (const bool sample : {false, true}) {
      DecodeOptions options = options_of(4, 4, 0.6);
      options.spec.sample = sample;
      options.spec.temperature = 0.7;
      const auto decoded = decode(*tiny.model, sources, options);
      std::vector<Example> examples;
      for (std::size_t b = 0; b < sources.size(); ++b)
        for (const Hypothesis& hypothesis : decoded[b]) {
          examples.push_back({sources[b], {kBegin}});
          Ids& target = examples.back().target;
          target.insert(target.end(), hypothesis.ids.begin(), hypothesis.ids.end());
          if (hypothesis.finished) target.push_back(kEnd);
        }
      const auto scores = score_reference(*tiny.model, examples, 40);
      const double within = type == DType::f64 ? 1e-11 : type == DType::f32 ? 1e-4 : 0.15;
      std::size_t i = 0;
      for (const auto& list : decoded)
        for (const Hypothesis& hypothesis : list) {
          const ReferenceScore& score = scores[i++];
          CHECK(hypothesis.log_probability == Approx(score.log_probability).epsilon(within));
          CHECK(score.tokens == static_cast<Index>(hypothesis.ids.size()) + (hypothesis.finished ? 1 : 0));
          CHECK(hypothesis.score ==
                Approx(hypothesis.log_probability / length_penalty(score.tokens, 0.6)).epsilon(1e-12));
        }
    }
  }
}

TEST_CASE("empty sources and none at all") {
  const Index V = 10;
  const TinyTransformer tiny(kTranslator, V);
  const DecodeOptions options = options_of(3, 2, 0.6);
  CHECK(decode(*tiny.model, {}, options).empty());
  const Ids some{4, 5, kEnd};
  const auto mixed = decode(*tiny.model, {{}, some, {kEnd}}, options);
  CHECK(same(mixed[0], decode(*tiny.model, {{}}, options).front()));
  CHECK(same(mixed[1], decode(*tiny.model, {some}, options).front()));
  CHECK(same(mixed[2], decode(*tiny.model, {{kEnd}}, options).front()));
  for (const auto& list : mixed) CHECK(list.size() == 2);
}

TEST_CASE("a language model goes on from prompts of different lengths") {
  const Index V = 20;
  const TinyTransformer tiny(ModelKind::decoder, V);
  DecodeOptions options = options_of(1, 1, 0);
  options.spec.max_extra = 9;
  const std::vector<Ids> prompts{{kEnd}, {5, 6, 7, 8}, {9, 4}, {kEnd, 3, 3, 3, 12, 13}};
  const auto decoded = decode(*tiny.model, prompts, options);
  for (std::size_t b = 0; b < prompts.size(); ++b)
    CHECK(decoded[b].front().ids == greedy_by_hand(tiny, {}, prompts[b], 9));
  options.spec.sample = true;
  options.spec.n_best = 5;
  const auto together = decode(*tiny.model, prompts, options);
  options.spec.batch_sentences = 1;
  const auto apart = decode(*tiny.model, prompts, options);
  for (std::size_t b = 0; b < prompts.size(); ++b) CHECK(same(together[b], apart[b]));
  CHECK_THROWS_AS(decode(*tiny.model, {{}}, options), ShapeError);
}

TEST_CASE("where one symbol begins and ends a sentence, sentences end all the same") {
  const Index V = 20, limit = 9;
  const TinyTransformer writer(ModelKind::decoder, V);
  const Ids prompt{5, 6, 7, 8};
  const Ids endless = greedy_by_hand(writer, {}, prompt, limit, -1, -1);
  for (const Token end : endless) {
    DecodeOptions options = options_of(1, 1, 0);
    options.spec.max_extra = limit;
    options.bos = options.eos = end;
    const Hypothesis written = decode(*writer.model, {prompt}, options).front().front();
    CHECK(written.ids == Ids(endless.begin(), std::find(endless.begin(), endless.end(), end)));
    CHECK(written.finished);
  }
  const TinyTransformer translator(kTranslator, V);
  for (Token end = 0; end < V; ++end) {
    DecodeOptions options = options_of(1, 1, 0);
    options.bos = options.eos = end;
    const Ids source{4, 5, end}, expected = greedy_by_hand(translator, source, {end}, limit, -1, end);
    const Hypothesis written = decode(*translator.model, {source}, options).front().front();
    CHECK(written.ids == expected);
    CHECK(written.finished == (static_cast<Index>(expected.size()) < limit));
  }
}

TEST_CASE("where one symbol begins and ends a sentence, an encoder may give it as a label") {
  const TinyTransformer tiny(ModelKind::encoder, 12);
  const Ids source{4, 5, 6, kEnd};
  DecodeOptions options = options_of(1, 1, 0);
  options.bos = options.eos = 999;  // no token at all
  Ids labels = decode(*tiny.model, {source}, options).front().front().ids;
  REQUIRE(labels.size() == source.size());
  options.bos = options.eos = labels.front();
  if (labels.back() == options.eos) labels.pop_back();
  CHECK(decode(*tiny.model, {source}, options).front().front().ids == labels);
}

TEST_CASE("output stays within learned positions") {
  const auto learned = [](ModelSpec& spec) {
    spec.positions.kind = PositionKind::learned;
    spec.positions.max_length = 7;
  };
  DecodeOptions options = options_of(2, 1, 0, 50);
  options.eos = 999;  // never written, so that only the limit ends a sentence
  const TinyTransformer translator(kTranslator, 10, DType::f64, learned);
  CHECK(decode(*translator.model, {{4, 5}}, options).front().front().ids.size() == 7);
  CHECK_THROWS_AS(decode(*translator.model, {Ids(8, 4)}, options), ShapeError);
  const TinyTransformer writer(ModelKind::decoder, 10, DType::f64, learned);
  CHECK(decode(*writer.model, {{4, 5, 6}}, options).front().front().ids.size() == 5);
  CHECK_FALSE(decode(*writer.model, {{4, 5, 6}}, options).front().front().finished);
}

TEST_CASE("an encoder labels every token") {
  const Index V = 12;
  const TinyTransformer tiny(ModelKind::encoder, V);
  const auto sources = tiny_sources(6, V);
  const auto decoded = decode(*tiny.model, sources, options_of(4, 1, 0));
  for (std::size_t b = 0; b < sources.size(); ++b) {
    const auto rows = static_cast<Index>(sources[b].size());
    Tape tape({.training = false});
    const auto logits =
        tiny.model->logits(tape, {{sources[b], Sequences::of_lengths({rows})}, {}, {}}).value().to_doubles();
    Ids expected;
    for (Index t = 0; t < rows; ++t) {
      const auto row = logits.begin() + t * V;
      Token best = 0;
      for (Token v = 2; v < V; ++v)
        if (row[v] > row[best]) best = v;
      expected.push_back(best);
    }
    if (expected.back() == kEnd) expected.pop_back();
    CHECK(decoded[b].front().ids == expected);
    CHECK(decoded[b].front().finished);
  }
  std::vector<Example> examples;
  for (const Ids& source : sources) examples.push_back({source, Ids(source.size() + 1, 3)});
  CHECK(score_reference(*tiny.model, examples).front().tokens == static_cast<Index>(sources[0].size()));
  examples[0].target.push_back(4);
  CHECK_THROWS_AS(score_reference(*tiny.model, examples), ShapeError);
}

TEST_CASE("a model that labels whole examples decodes nothing") {
  for (const ModelKind kind : {ModelKind::encoder, ModelKind::decoder}) {
    const TinyTransformer tiny(kind, 10, DType::f64, [](ModelSpec& spec) { spec.head.pool = Pooling::mean; });
    CHECK_THROWS_AS(decode(*tiny.model, {{4, 5, 6, kEnd}}, options_of(1, 1, 0)), ShapeError);
  }
}

TEST_CASE("a broken model is named, not decoded") {
  const TinyTransformer tiny(kTranslator, 10);
  tiny.parameters.find("output.weight")->value().fill(std::nan(""));
  CHECK_THROWS_AS(decode(*tiny.model, {{4, kEnd}}, options_of(2, 1, 0)), DivergedError);
  CHECK_THROWS_AS(decode(*tiny.model, {{4, kEnd}}, options_of(2, 3, 0)), ShapeError);
}
