// The attention of every head on every sentence: weights, tokens, and what may be seen. Arrays in the .npz
// are TYPE.LAYER.SENTENCE (encoder.0.3) [heads, queries, keys], and TYPE.LAYER.SENTENCE.visible [queries, 2]
// with the first and one past the last key that may be seen.
#include "study/attention_places.h"
#include "study/probe.h"

namespace attnlab {
namespace {

// Sentence b of a map [B, H, T, S], cut to its lengths: [H, t, s].
Tensor cut(const Tensor& map, Index b, Index queries, Index keys) {
  const Index H = map.shape()[1], T = map.shape()[2], S = map.shape()[3];
  const auto all = map.to_doubles();
  std::vector<double> values;
  for (Index h = 0; h < H; ++h)
    for (Index t = 0; t < queries; ++t)
      for (Index s = 0; s < keys; ++s)
        values.push_back(all[static_cast<std::size_t>(((b * H + h) * T + t) * S + s)]);
  return Tensor::from({H, queries, keys}, DType::f32, values);
}

// First and one past the last key that each query may see: [t, 2].
Tensor visible_keys(const Mask& mask, Index b) {
  std::vector<double> values;
  for (Index t = 0; t < mask.queries.length(b); ++t) {
    const Interval seen = mask.visible(b, t);
    values.push_back(static_cast<double>(seen.begin));
    values.push_back(static_cast<double>(seen.end));
  }
  return Tensor::from({mask.queries.length(b), 2}, DType::f32, values);
}

struct AttentionMaps final : ProbeSpec {
  std::int64_t sentences = 8;

  void fields(Fields& f) override {
    f("sentences", sentences, at_least(1), "so many of the first sentences");
  }
  std::string refusal(const ModelSpec& spec) const override {
    return has_heads(spec) ? "" : "the model has no attention";
  }

  ProbeResult run(ProbeSubject& subject) const override {
    ProbeResult result;
    ProbeSubject first = subject;
    first.examples.resize(std::min(first.examples.size(), static_cast<std::size_t>(sentences)));
    Table tokens{"tokens", {"sentence", "side", "position", "token"}, {}};
    for (std::size_t i = 0; i < first.examples.size(); ++i) {
      add_tokens(static_cast<Index>(i), "source", source_pieces(subject, first.examples[i]), tokens);
      if (subject.model.spec().has_decoder() && !subject.model.spec().pooled())
        add_tokens(static_cast<Index>(i), "target", target_pieces(subject, first.examples[i]), tokens);
    }
    result.tables.push_back(std::move(tokens));
    Table maps{"maps", {"array", "sentence", "type", "layer", "heads", "queries", "keys"}, {}};
    Recorder seen(subject.model, wants_attention);
    for_each_batch(first, [&](const ModelInput& input, Index number) {
      seen.clear();
      Tape tape({.training = false});
      subject.model.hidden(tape, input);
      for (const AttentionPlace& place : attention_places(subject.model)) {
        const Mask mask = mask_at(place, subject.model.spec(), input);
        add_maps(place, mask, number, attention_map(place, seen, mask), maps, result);
      }
    });
    result.tables.push_back(std::move(maps));
    result.numbers.set("sentences", static_cast<std::int64_t>(first.examples.size()));
    return result;
  }

 private:
  static void add_tokens(Index sentence, const std::string& side, const std::vector<std::string>& pieces,
                         Table& table) {
    for (std::size_t i = 0; i < pieces.size(); ++i)
      table.rows.push_back({sentence, side, static_cast<std::int64_t>(i), pieces[i]});
  }

  static void add_maps(const AttentionPlace& place, const Mask& mask, Index first, const Tensor& map,
                       Table& table, ProbeResult& result) {
    for (Index b = 0; b < mask.queries.count(); ++b) {
      const Index queries = mask.queries.length(b), keys = mask.keys.length(b);
      const std::string name = join_text(to_string(place.type), ".", place.layer, ".", first + b);
      result.arrays.push_back({name, cut(map, b, queries, keys)});
      result.arrays.push_back({name + ".visible", visible_keys(mask, b)});
      table.rows.push_back(
          {name, first + b, to_string(place.type), place.layer, place.heads(), queries, keys});
    }
  }
};

const Registered<ProbeSpec, AttentionMaps> registered{
    "attention_maps",
    "the weights of every head, as arrays in attention_maps.npz of --out: read_npz() of "
    "tools/python/attnlab.py reads them, or numpy.load()"};

}  // namespace
}  // namespace attnlab
