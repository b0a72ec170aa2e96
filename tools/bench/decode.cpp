// attnlab bench decode: an encoder-decoder with random weights translates random sentences to a fixed length,
// by beam search and greedily; the shapes are those of the peer's script.
#include <cmath>

#include "bench/measuring.h"
#include "bench/presets.h"
#include "core/parallel.h"
#include "train/decode.h"
#include "version.h"

namespace attnlab {
namespace {

struct Options : MeasureOptions {
  std::string preset = "small";
  Index sentences = 256, source_length = 16, target_length = 16, batch = 64;
  std::vector<Index> beams{5, 1};
  int repeat = 5;
};

std::vector<std::vector<Token>> random_sources(const Options& options, Index vocabulary) {
  constexpr Token kEnd = 2, kFirstWord = 3;
  const Random random(3, stream_name("bench decode"));
  std::vector<std::vector<Token>> sources(static_cast<std::size_t>(options.sentences));
  std::uint64_t next = 0;
  for (auto& ids : sources) {
    for (Index i = 0; i < options.source_length; ++i)
      ids.push_back(kFirstWord + static_cast<Token>(random.below(
                                     next++, static_cast<std::uint64_t>(vocabulary - kFirstWord))));
    ids.push_back(kEnd);
  }
  return sources;
}

// Exactly `target_length` tokens: no token ends a sentence, and the limit lies between two whole numbers.
DecodeOptions decoding(const Options& options, Index beam) {
  DecodeOptions result;
  result.spec.beam = beam;
  result.spec.batch_sentences = options.batch;
  result.spec.max_extra = options.target_length;
  result.spec.max_ratio =
      (static_cast<double>(options.target_length) + 0.5) / static_cast<double>(options.source_length + 1);
  result.eos = -1;
  return result;
}

Record measure(const Preset& preset, const Options& options, Index beam) {
  const DType type = options.apply();
  const auto built = build_preset(preset, spec_of(preset, 0), type, false);
  const auto sources = random_sources(options, preset.vocabulary);
  const DecodeOptions how = decoding(options, beam);
  Index produced = 0;
  const auto seconds = timed(
      [&] {
        produced = 0;
        for (const auto& hypotheses : decode(*built->model, sources, how))
          produced += static_cast<Index>(hypotheses.front().ids.size());
      },
      1, options.repeat, 1e9);
  Record row{{"peer", std::string("attnlab ") + kVersion},
             {"layers", preset.layers},
             {"d", preset.width},
             {"heads", preset.heads},
             {"ff", preset.feed_forward},
             {"vocab", preset.vocabulary},
             {"sentences", options.sentences},
             {"source_length", options.source_length},
             {"target_length", options.target_length},
             {"batch", options.batch},
             {"beam", beam},
             {"threads", static_cast<Index>(thread_count())},
             {"precision", to_string(type)}};
  append_times(seconds, row);
  row.set("target_tokens", produced);
  row.set("tokens_per_s", std::round(static_cast<double>(produced) / median(seconds)));
  row.set("peak_rss_gb", rounded(peak_rss_gb(), 3));
  return row;
}

int run(const Options& options) {
  ResultTable results(options.json);
  const Preset preset = presets_named(options.preset).front();
  for (const Index beam : options.beams)
    results.row(measured_apart([&preset, &options, beam] { return measure(preset, options, beam); }));
  return 0;
}

const Benchmark benchmark{
    "decode", "beam search and greedy decoding to a fixed length", [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      options->declare(app);
      app.add_option("--preset", options->preset, "the shapes of the model")->capture_default_str();
      app.add_option("--beam", options->beams, "hypotheses kept per sentence; 1: greedy")
          ->capture_default_str();
      app.add_option("--sentences", options->sentences, "to translate")->capture_default_str();
      app.add_option("--source-length", options->source_length, "tokens, </s> not counted")
          ->capture_default_str();
      app.add_option("--target-length", options->target_length, "tokens written")->capture_default_str();
      app.add_option("--batch", options->batch, "sentences at once")->capture_default_str();
      app.add_option("--repeat", options->repeat, "times all are translated")->capture_default_str();
      return [options] { return run(*options); };
    }};

}  // namespace
}  // namespace attnlab
