// Real published models against Hugging Face transformers: MiniLM and SmolLM2 (tests/golden/real_models.py
// says how to get them). Skips without ATTNLAB_MODELS, a folder with all-minilm-l6-v2/ and smollm2/.
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "config/spec.h"
#include "data/tokenizer_spec.h"
#include "support/catch.h"
#include "support/golden.h"
#include "train/build_model.h"
#include "train/starting_weights.h"

using namespace attnlab;

namespace {

std::string model_folder(const std::string& name) {
  const char* models = std::getenv("ATTNLAB_MODELS");
  const std::filesystem::path folder = std::filesystem::path(models == nullptr ? "" : models) / name;
  if (models != nullptr && std::filesystem::exists(folder)) return folder;
  std::cerr << "SKIPPED: " << name << " needs ATTNLAB_MODELS, a folder that holds it\n";
  return {};
}

struct Loaded {
  Loaded(const std::string& folder, const std::string& words, const std::string& head) {
    read_spec(Tree::load({}, {"model.from=" + folder, "model.head=" + head}), spec);
    Holder holder;
    read_spec(Tree::parse("tokenizer: {kind: " + words + ", path: " + folder + "}"), holder);
    tokenizer = learned_tokenizer(*holder.tokenizer, {}, {});
    built = build_model(spec, {tokenizer->size(), tokenizer->size(), true}, DType::f32, false,
                        InitialValues::zero);
    load_starting_weights(spec, *built);
  }
  struct Holder {
    std::shared_ptr<TokenizerSpec> tokenizer;
    void fields(Fields& f) { f.kind("tokenizer", tokenizer, "test"); }
  };
  ExperimentSpec spec;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::unique_ptr<BuiltModel> built;
};

void check_ids(const Tokenizer& tokenizer, const nlohmann::json& reference, const nlohmann::json& texts) {
  std::vector<std::string> lines = golden("tokenizers/ids.json")["lines"];
  for (const std::string text : texts) lines.push_back(text);
  REQUIRE(lines.size() == reference.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    INFO("line " << i << ": " << lines[i].substr(0, 60));
    const auto ids = tokenizer.encode(lines[i]);
    std::string text;
    for (const Token id : ids) text += (text.empty() ? "" : ",") + std::to_string(id);
    CHECK(ids.size() == reference[i]["count"]);
    CHECK(::crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()) == reference[i]["crc32"]);
  }
}

// Largest difference in the columns that are kept, relative to the largest number of the row.
double distance(const Tensor& got, const nlohmann::json& sentence, const nlohmann::json& columns) {
  double worst = 0;
  REQUIRE(got.rows() == static_cast<Index>(sentence["rows"].size()));
  const auto numbers = got.to_doubles();
  for (Index t = 0; t < got.rows(); ++t) {
    const auto& row = sentence["rows"][static_cast<std::size_t>(t)];
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const double own = numbers[static_cast<std::size_t>(t * got.columns() + columns[i].get<Index>())];
      worst = std::max(worst, std::abs(own - row["at"][i].get<double>()) / row["largest"].get<double>());
    }
  }
  return worst;
}

TokenRows rows_of(const nlohmann::json& sentence) {
  const auto ids = sentence["ids"].get<std::vector<std::int32_t>>();
  return {ids, Sequences::of_lengths({static_cast<Index>(ids.size())})};
}

}  // namespace

TEST_CASE("MiniLM: ids and hidden states are those of transformers", "[golden]") {
  const std::string folder = model_folder("all-minilm-l6-v2");
  if (folder.empty()) return;
  const auto data = golden("real_models.json");
  const auto& reference = data["minilm"];
  const Loaded loaded(folder, "word_pieces", "mean");
  check_ids(*loaded.tokenizer, reference["lines"], data["texts"]);
  for (const auto& sentence : reference["sentences"]) {
    Tape tape({.training = false});
    const Tensor rows = loaded.built->model->encode(tape, rows_of(sentence)).value();
    CHECK(distance(rows, sentence, reference["columns"]) < 1e-4);
  }
}

TEST_CASE("SmolLM2: ids and logits are those of transformers", "[golden]") {
  const std::string folder = model_folder("smollm2");
  if (folder.empty()) return;
  const auto data = golden("real_models.json");
  const auto& reference = data["smollm2"];
  const Loaded loaded(folder, "byte_pairs", "none");
  check_ids(*loaded.tokenizer, reference["lines"], data["texts"]);
  for (const auto& sentence : reference["sentences"]) {
    Tape tape({.training = false});
    const Tensor logits = loaded.built->model->logits(tape, {{}, rows_of(sentence), {}}).value();
    CHECK(distance(logits, sentence, reference["columns"]) < 1e-4);
    const auto numbers = logits.to_doubles();
    const auto V = static_cast<std::ptrdiff_t>(logits.columns());
    for (std::ptrdiff_t t = 0; t < logits.rows(); ++t) {
      const auto first = numbers.begin() + t * V;
      CHECK(std::max_element(first, first + V) - first == sentence["best"][static_cast<std::size_t>(t)]);
    }
  }
}
