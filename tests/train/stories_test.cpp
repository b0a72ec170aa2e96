// A real pretrained model, stories260K of llama2.c, against the tokens and logits of an independent
// implementation in f64. Skips without ATTNLAB_SHARED_DATA.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "config/spec.h"
#include "data/tokenizer_spec.h"
#include "support/catch.h"
#include "support/scratch.h"
#include "train/build_model.h"
#include "train/fetch_model.h"
#include "train/published_model.h"
#include "train/starting_weights.h"

using namespace attnlab;

namespace {

std::filesystem::path stories_folder() {
  const char* shared = std::getenv("ATTNLAB_SHARED_DATA");
  const std::filesystem::path folder = std::filesystem::path(shared == nullptr ? "" : shared) / "stories260k";
  if (shared != nullptr && std::filesystem::exists(folder)) return folder;
  std::cerr << "SKIPPED: stories260K needs ATTNLAB_SHARED_DATA, a folder with stories260k/\n";
  return {};
}

struct Stories {
  Stories(const std::filesystem::path& file, DType type) {
    read_spec(Tree::load({}, {"model.from=" + file.string()}), spec);
    built = build_model(spec, {512, 512, true}, type, false);
    load_starting_weights(spec, *built);
  }
  // Logits after each token, one at a time.
  std::vector<std::vector<double>> read(const std::vector<std::int32_t>& tokens) const {
    Tape tape({.training = false});
    DecoderState state = built->model->start(1);
    std::vector<std::vector<double>> all;
    for (const auto token : tokens)
      all.push_back(
          built->model->step(tape, state, {{token}, Sequences::of_lengths({1})}).value().to_doubles());
    return all;
  }
  ExperimentSpec spec;
  std::unique_ptr<BuiltModel> built;
};

}  // namespace

TEST_CASE("stories260K says its reference tokens, with its reference logits") {
  const auto folder = stories_folder();
  if (folder.empty()) return;
  std::ifstream file(folder / "reference_greedy.json");
  const auto reference = nlohmann::json::parse(file);
  const auto tokens = reference["tokens"].get<std::vector<std::int32_t>>();
  const auto best = reference["logit_max_per_position"].get<std::vector<double>>();
  for (const auto& [type, bound] : {std::pair{DType::f32, 1e-3}, {DType::f64, 1.1e-5}}) {
    const Stories stories(folder / "stories260K.safetensors", type);
    const auto logits = stories.read({tokens.begin(), tokens.end() - 1});
    for (std::size_t t = 0; t < logits.size(); ++t) {
      const auto most = std::max_element(logits[t].begin(), logits[t].end());
      REQUIRE(most - logits[t].begin() == tokens[t + 1]);
      CHECK(std::abs(*most - best[t]) < bound);
      for (std::size_t v = 0; t < 3 && v < 512; ++v)
        CHECK(std::abs(logits[t][v] - reference["logits_first3_positions"][t][v].get<double>()) < bound);
    }
  }
}

TEST_CASE("the vocabulary of stories260K reads and writes the reference text") {
  const auto folder = stories_folder();
  if (folder.empty()) return;
  auto spec = Registry<TokenizerSpec>::make("sentence_piece");
  read_fields(Tree::load({}, {"path=" + (folder / "tok512.bin").string()}),
              [&spec](Fields& f) { spec->fields(f); });
  const auto words = learned_tokenizer(*spec, {}, {});
  std::ifstream file(folder / "reference_greedy.json");
  const auto reference = nlohmann::json::parse(file);
  const auto tokens = reference["tokens"].get<std::vector<Token>>();
  const std::string text = reference["text"];
  CHECK(words->size() == 512);
  CHECK(words->decode(tokens) == text);
  auto encoded = words->encode(text.substr(0, text.rfind('.') + 1));
  encoded.insert(encoded.begin(), words->bos());
  REQUIRE(encoded.size() <= tokens.size());
  CHECK(encoded ==
        std::vector<Token>(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(encoded.size())));
}

TEST_CASE("the file of llama2.c holds the same tensors as its conversion, and says the same of the model") {
  const auto folder = stories_folder();
  if (folder.empty()) return;
  const Stories original(folder / "stories260K.bin", DType::f32);
  const Stories converted(folder / "stories260K.safetensors", DType::f32);
  CHECK(published_keys(folder / "stories260K.bin") == published_keys(folder / "stories260K.safetensors"));
  const auto& ours = original.built->parameters.all();
  const auto& theirs = converted.built->parameters.all();
  REQUIRE(ours.size() == theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i)
    CHECK(ours[i]->value().to_doubles() == theirs[i]->value().to_doubles());
}

TEST_CASE("stories260k is fetched from a folder, and its folder is a model with its tokenizer") {
  const auto folder = stories_folder();
  if (folder.empty()) return;
  const ScratchFolder scratch;
  const auto model = fetch_model("stories260k", {scratch.path(), folder, {}});
  CHECK(model == scratch.path() / "stories260k");
  CHECK(is_published_model(model));
  CHECK(Stories(model, DType::f32).spec.model.stack.layers == 5);
  auto spec = Registry<TokenizerSpec>::make("sentence_piece");
  read_fields(Tree::load({}, {"path=" + model.string()}), [&spec](Fields& f) { spec->fields(f); });
  CHECK(learned_tokenizer(*spec, {}, {})->size() == 512);
}
