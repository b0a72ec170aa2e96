#include "models/transformer.h"

#include "config/error.h"
#include "support/catch.h"
#include "support/token_rows.h"
#include "train/tiny_transformer.h"

using namespace attnlab;

namespace {
Index weights_of(ModelKind kind, const std::function<void(ModelSpec&)>& change) {
  return TinyTransformer(kind, 11, DType::f64, change).parameters.count(true);
}
}  // namespace

TEST_CASE("a model has the weights that its definition counts") {
  // Width 16, 2 heads with a gate each, feed-forward 24, 2 layers a side, 11 words; by hand.
  const Index attention = 4 * (16 * 16 + 16) + 2, norm = 2 * 16, mlp = 16 * 24 + 24 + 24 * 16 + 16;
  const Index encoder_layer = attention + mlp + 2 * norm, decoder_layer = 2 * attention + mlp + 3 * norm;
  const Index table = 11 * 16, output = 11 * 16 + 11;
  const auto plain = [](ModelSpec&) {};
  CHECK(weights_of(ModelKind::encoder_decoder, plain) ==
        2 * encoder_layer + norm + 2 * decoder_layer + norm + 2 * table + output);
  CHECK(weights_of(ModelKind::decoder, plain) == 2 * encoder_layer + norm + table + output);
  CHECK(weights_of(ModelKind::encoder, plain) == 2 * encoder_layer + norm + table + output);
  CHECK(weights_of(ModelKind::encoder_decoder, [](ModelSpec& spec) {
          spec.tie = Tie::all;
          spec.output_bias = false;
        }) == 2 * encoder_layer + norm + 2 * decoder_layer + norm + table);
  CHECK(weights_of(ModelKind::decoder, [](ModelSpec& spec) {
          for (StackSpec* stack : {&spec.stack, &spec.encoder, &spec.decoder}) stack->mlp.on = false;
          spec.positions.kind = PositionKind::learned;
          spec.positions.max_length = 7;
        }) == 2 * (attention + norm) + norm + table + 7 * 16 + output);
}

TEST_CASE("token by token, in any order of hypotheses, a decoder says what it says at once") {
  for (const ModelKind kind : {ModelKind::encoder_decoder, ModelKind::decoder}) {
    const TinyTransformer tiny(kind, 11);
    const std::vector<std::vector<Token>> sources{{5, 3, 2}, {4, 2}};
    std::vector<std::vector<Token>> read{{kBegin}, {kBegin}};
    Tape tape({.training = false});
    DecoderState state =
        kind == ModelKind::decoder ? tiny.model->start(2) : tiny.model->start(tape, rows_of(sources), 1);
    for (int step = 0; step < 5; ++step) {
      std::vector<std::vector<Token>> last;
      for (const auto& tokens : read) last.push_back({tokens.back()});
      const auto logits = tiny.model->step(tape, state, rows_of(last)).value().to_doubles();
      for (std::size_t i = 0; i < read.size(); ++i) {
        // Source 0 unless hypothesis i descends from the second sentence.
        const auto& source = sources[static_cast<std::size_t>(state.sentence[i])];
        const auto whole =
            tiny.model->logits(tape, {rows_of({source}), rows_of({read[i]}), {}}).value().to_doubles();
        for (std::size_t v = 0; v < 11; ++v)
          CHECK(logits[i * 11 + v] == Approx(whole[whole.size() - 11 + v]).epsilon(1e-9).margin(1e-9));
      }
      if (step == 2) {  // the second hypothesis dies, the first becomes two, and they change places
        tiny.model->reorder(state, {1, 0, 0});
        read = {read[1], read[0], read[0]};
      }
      for (std::size_t i = 0; i < read.size(); ++i)
        read[i].push_back(static_cast<Token>(3 + (step + static_cast<int>(i)) % 8));
    }
  }
}

TEST_CASE("what cannot be built is refused by the config's own words") {
  const auto build = [](ModelKind kind, const std::function<void(ModelSpec&)>& change) {
    TinyTransformer(kind, 11, DType::f32, change);
  };
  CHECK_THROWS_AS(
      build(ModelKind::decoder, [](ModelSpec& spec) { spec.stack.heads = spec.decoder.heads = 3; }),
      ConfigError);
  CHECK_THROWS_AS(build(ModelKind::decoder,
                        [](ModelSpec& spec) {
                          spec.stack.attention = spec.decoder.attention =
                              Registry<AttentionSpec>::make("linformer");
                        }),
                  ConfigError);
  CHECK_NOTHROW(build(ModelKind::encoder_decoder, [](ModelSpec& spec) {
    spec.stack.attention = spec.encoder.attention = Registry<AttentionSpec>::make("linformer");
  }));
}
