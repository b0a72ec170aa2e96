// Writing: every key, block style, the same spec when read back; what inheriting sections say; diffs.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "specs.h"
#include "support/catch.h"

using namespace attnlab;
using namespace config_test;

namespace {

RunSpec read_back(const std::string& text) { return read(Tree::parse(text, "written.yaml")); }

// Differences in what two specs mean, inherited values included.
bool same(const RunSpec& a, const RunSpec& b) { return diff(a, b).empty() && diff(b, a).empty(); }

std::string written_name(const std::string& name) {
  RunSpec spec;
  spec.name = name;
  const std::string text = write_spec(spec);
  CHECK(read_back(text).name == name);
  return text.substr(0, text.find("\nseed"));
}

}  // namespace

TEST_CASE("The default spec, written") {
  CHECK(write_spec(RunSpec{}) ==
        "name: run\n"
        "seed: 1\n"
        "deterministic: true\n"
        "model:\n"
        "  width: 64\n"
        "  heads: 4\n"
        "  layers: 4\n"
        "  skip:\n"
        "    on: true\n"
        "    scale: 1.0\n"
        "  norm:\n"
        "    place: pre\n"
        "    epsilon: 1e-05\n"
        "  dropout:\n"
        "    attention: 0.1\n"
        "    residual: 0.1\n"
        "  shape:\n"
        "    kind: band\n"
        "    gain: 1.0\n"
        "    width: 16\n"
        "    causal: false\n"
        "  encoder: {}\n"
        "  decoder: {}\n"
        "train:\n"
        "  learning_rate: 0.0003\n"
        "  max_steps: null\n"
        "  clip: 1.0\n"
        "  from: null\n"
        "  fast: null\n"
        "  trainable:\n"
        "    - \"*\"\n"
        "  betas:\n"
        "    - 0.9\n"
        "    - 0.999\n"
        "  milestones: []\n");
}

TEST_CASE("Text is quoted where YAML would read something else") {
  CHECK(written_name("plain name") == "name: plain name");
  CHECK(written_name("runs/a-1.b") == "name: runs/a-1.b");
  CHECK(written_name("") == "name: \"\"");
  CHECK(written_name("true") == "name: \"true\"");
  CHECK(written_name("No") == "name: \"No\"");
  CHECK(written_name("null") == "name: \"null\"");
  CHECK(written_name("~") == "name: \"~\"");
  CHECK(written_name("1e3") == "name: \"1e3\"");
  CHECK(written_name("2024-01-01") == "name: \"2024-01-01\"");
  CHECK(written_name("-.5") == "name: \"-.5\"");
  CHECK(written_name(".nan") == "name: \".nan\"");
  CHECK(written_name("nan") == "name: \"nan\"");
  CHECK(written_name("a: b") == "name: \"a: b\"");
  CHECK(written_name("a #b") == "name: \"a #b\"");
  CHECK(written_name("*.norm") == "name: \"*.norm\"");
  CHECK(written_name("é") == "name: \"é\"");
  for (const char* text : {" a",
                           "a ",
                           "- a",
                           "? a",
                           "...",
                           "---",
                           "'",
                           "\"",
                           "\\",
                           "a\nb\n",
                           "\n",
                           "\t",
                           "\x01\x1f\x7f",
                           "%",
                           "@",
                           "{}",
                           "[",
                           "<<",
                           "=",
                           "\xC2\x85",
                           "\xE2\x80\xA8",
                           "\xEF\xBB\xBF",
                           "\xF0\x9F\x98\x80",
                           "\r\n"})
    written_name(text);
  written_name(std::string(5000, 'x'));
  written_name(std::string("a\0b", 3));
}

TEST_CASE("Numbers are written with their shortest digits and read back to the same bits") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t bits = random() & 0x7FFFFFFFFFFFFFFFULL;
    RunSpec spec;
    std::memcpy(&spec.train.learning_rate, &bits, sizeof bits);
    if (!std::isfinite(spec.train.learning_rate) || spec.train.learning_rate <= 0) continue;
    const double back = read_back(write_spec(spec)).train.learning_rate;
    CHECK(std::memcmp(&back, &spec.train.learning_rate, sizeof back) == 0);
  }
  // The first is the smallest that is not taken for zero (core/denormals.h).
  for (const double value : {2.2250738585072014e-308, 1.7976931348623157e308, 1e16, 123456789.0, 1.0 / 3}) {
    RunSpec spec;
    spec.train.learning_rate = value;
    CHECK(read_back(write_spec(spec)).train.learning_rate == value);
  }
  RunSpec spec;
  spec.seed = std::numeric_limits<std::int64_t>::min();
  CHECK(read_back(write_spec(spec)).seed == spec.seed);
}

TEST_CASE("A resolved file states inherited values once, so that --set still reaches the heirs") {
  const RunSpec spec =
      read("model: {layers: 6, shape: {width: 3}, encoder: {layers: 2, shape: {causal: true}}}");
  CHECK(spec.model.encoder.layers == 2);
  CHECK(spec.model.decoder.layers == 6);
  const std::string text = write_spec(spec);
  CHECK(text.find("  encoder:\n    layers: 2\n    shape:\n      causal: true\n  decoder: {}\n") !=
        std::string::npos);
  Tree tree = Tree::parse(text);
  CHECK(same(read(tree), spec));
  tree.set("model.layers=9");
  tree.set("model.shape.width=5");
  CHECK(read(tree).model.decoder.layers == 9);
  CHECK(read(tree).model.encoder.layers == 2);
  const RunSpec changed = read(tree);
  const auto& shape = dynamic_cast<const BandSpec&>(*changed.model.encoder.shape);
  CHECK(shape.width == 5);
  CHECK(shape.causal);
}

TEST_CASE("With its tree, a spec keeps the keys that were set explicitly to the inherited value") {
  const std::string given =
      "model:\n  encoder: {layers: 4, skip: true, shape: band}\n  decoder: {dropout: {residual: 0.1}}\n";
  const Tree tree = Tree::parse(given);
  const RunSpec spec = read(tree);
  CHECK(write_spec(spec).find("  encoder: {}\n  decoder: {}\n") != std::string::npos);
  const std::string text = write_spec(spec, tree);
  CHECK(text.find("  encoder:\n    layers: 4\n    skip:\n      on: true\n      scale: 1.0\n    shape:\n      "
                  "kind: band\n"
                  "  decoder:\n    dropout:\n      residual: 0.1\n") != std::string::npos);
  Tree resolved = Tree::parse(text);
  CHECK(write_spec(read(resolved), resolved) == text);
  resolved.set("model.layers=9");
  resolved.set("model.skip=false");
  CHECK(read(resolved).model.encoder.layers == 4);
  CHECK(read(resolved).model.encoder.skip.on);
  CHECK_FALSE(read(resolved).model.decoder.skip.on);
}

TEST_CASE("A section of another kind than the inherited one is written whole") {
  const RunSpec spec = read("model: {shape: {gain: 2}, encoder: {shape: {kind: feature}}}");
  const std::string text = write_spec(spec);
  CHECK(text.find("  encoder:\n    shape:\n      kind: feature\n      gain: 1.0\n      features: 64\n      "
                  "inner: null\n") != std::string::npos);
  CHECK(same(read_back(text), spec));
}

TEST_CASE("Kinds that were never registered cannot be written") {
  struct Stranger : ShapeSpec {};
  RunSpec spec;
  spec.model.common.shape = std::make_shared<Stranger>();
  CHECK_THROWS_AS(write_spec(spec), std::logic_error);
}

TEST_CASE("Any spec reads back to itself, with and without its tree") {
  std::mt19937 random(11);
  for (int i = 0; i < 400; ++i) {
    const std::string text = random_model(random);
    Tree tree = Tree::parse(text);
    if (random() % 2) tree.set("model.shape.kind=band");
    if (random() % 3 == 0) tree.set("model.decoder.shape=feature");
    INFO(text);
    const RunSpec spec = read(tree);
    const std::string alone = write_spec(spec), with_tree = write_spec(spec, tree);
    INFO(with_tree);
    CHECK(same(read_back(alone), spec));
    CHECK(same(read_back(with_tree), spec));
    CHECK(write_spec(read_back(alone)) == alone);
    const Tree again = Tree::parse(with_tree);
    CHECK(write_spec(read(again), again) == with_tree);
  }
}

TEST_CASE("Differences between specs") {
  const auto text = [](const RunSpec& a, const RunSpec& b) {
    std::string lines;
    for (const SpecDifference& d : diff(a, b)) lines += d.path + ": " + d.a + " | " + d.b + "\n";
    return lines;
  };
  CHECK(text(RunSpec{}, RunSpec{}).empty());
  CHECK(text(read("seed: 2"), read("name: \"5\"\ntrain: {trainable: [a, b], clip: null}")) ==
        "name: run | \"5\"\nseed: 2 | 1\ntrain.clip: 1.0 | null\ntrain.trainable: [\"*\"] | [a, b]\n");
  // What is inherited is said once, what one side sets itself is compared with what the other inherits.
  CHECK(text(read("model: {layers: 2}"), RunSpec{}) == "model.layers: 2 | 4\n");
  CHECK(text(read("model: {layers: 2}"), read("model: {encoder: {layers: 3}}")) ==
        "model.layers: 2 | 4\nmodel.encoder.layers: 2 | 3\n");
  CHECK(text(read("model: {shape: plain}"), RunSpec{}) ==
        "model.shape.kind: plain | band\nmodel.shape.width:  | 16\nmodel.shape.causal:  | false\n");
}
