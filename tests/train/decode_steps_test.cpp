// Decoding step by step with carried state against the whole model, for every kind of attention.
#include "support/catch.h"
#include "support/token_rows.h"
#include "train/tiny_transformer.h"

using namespace attnlab;

namespace {

using Ids = std::vector<Token>;

// Feeds sentence b's tokens in pieces that end at cuts[k] (or at its end) and compares the logits of each
// piece's last token. Between the pieces hypotheses change places.
double largest_difference(const TinyTransformer& tiny, const std::vector<Ids>& sources,
                          std::vector<Ids> sentences, const std::vector<Index>& cuts) {
  const Transformer& model = *tiny.model;
  Tape tape({.training = false});
  DecoderState state = model.encoder() ? model.start(tape, rows_of(sources), 1)
                                       : model.start(static_cast<Index>(sentences.size()));
  std::vector<Ids> own = sources;
  own.resize(sentences.size());
  double worst = 0;
  Index begin = 0;
  for (const Index end : cuts) {
    std::vector<Ids> piece;
    for (const Ids& ids : sentences) piece.emplace_back(ids.begin() + begin, ids.begin() + end);
    const Tensor logits = model.step(tape, state, rows_of(piece)).value();
    for (std::size_t b = 0; b < sentences.size(); ++b) {
      const auto expected = tiny.next(own[b], Ids(sentences[b].begin(), sentences[b].begin() + end));
      const auto got = logits.row_view(static_cast<Index>(b), 1).clone().to_doubles();
      const double shift = got[0] - expected[0];  // logits against log-probabilities
      for (std::size_t v = 0; v < got.size(); ++v)
        worst = std::max(worst, std::abs(got[v] - expected[v] - shift));
    }
    const std::vector<Index> parents{2, 0, 1, 1};
    std::vector<Ids> moved, moved_sources;
    for (const Index parent : parents) {
      moved.push_back(sentences[static_cast<std::size_t>(parent)]);
      moved_sources.push_back(own[static_cast<std::size_t>(parent)]);
    }
    model.reorder(state, parents);
    sentences = moved;
    own = moved_sources;
    begin = end;
  }
  return worst;
}

}  // namespace

TEST_CASE("a cached step equals the whole model for every incremental attention") {
  const Index V = 12;
  const std::vector<Ids> sentences{{1, 3, 4, 5, 6, 7, 8}, {1, 9, 9, 3, 10, 11, 4}, {1, 5, 5, 5, 5, 6, 3}};
  const std::vector<Ids> sources{{7, 2}, {3, 8, 9, 10, 2}, {4, 4, 2}};
  Index tried = 0;
  for (const auto& kind : Registry<AttentionSpec>::list()) {
    const auto spec = Registry<AttentionSpec>::make(kind.name);
    const auto use = [&kind](ModelSpec& model) {
      model.decoder.attention = Registry<AttentionSpec>::make(kind.name);
    };
    if (!spec->promises().causal || !spec->promises().incremental) continue;
    ++tried;
    INFO(kind.name);
    const TinyTransformer writer(ModelKind::decoder, V, DType::f64, use);
    const TinyTransformer translator(ModelKind::encoder_decoder, V, DType::f64, use);
    for (const auto& cuts : {std::vector<Index>{1, 2, 3, 4, 5, 6, 7}, std::vector<Index>{3, 4, 7}}) {
      CHECK(largest_difference(writer, {}, sentences, cuts) < 1e-12);
      CHECK(largest_difference(translator, sources, sentences, cuts) < 1e-12);
    }
  }
  CHECK(tried >= 3);
}
