// Specs for the tests: one of every kind of field, kinds of two registries, sections that inherit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "config/error.h"
#include "config/registry.h"
#include "config/spec.h"

namespace config_test {

using attnlab::Fields;

enum class Norm { pre, post, none };

struct ShapeSpec {
  static constexpr const char* kRegistry = "shape";
  virtual ~ShapeSpec() = default;
  virtual void fields(Fields& f) { f("gain", gain, attnlab::above(0), "gain of every shape"); }
  double gain = 1;
};

struct BandSpec : ShapeSpec {
  std::int64_t width = 16;
  bool causal = false;
  void fields(Fields& f) override {
    ShapeSpec::fields(f);
    f("width", width, attnlab::at_least(1), "neighbours on each side", "tokens");
    f("causal", causal, "sees the past only");
  }
};

struct FeatureSpec : ShapeSpec {
  std::int64_t features = 64;
  std::shared_ptr<ShapeSpec> inner;
  void fields(Fields& f) override {
    ShapeSpec::fields(f);
    f("features", features, attnlab::between(1, 4096), "number of features");
    f.optional_kind("inner", inner, "a shape inside this one");
  }
};

struct PlainSpec : ShapeSpec {};

struct SkipSpec {
  using Scalar = bool;
  bool on = true;
  double scale = 1;
  void set_all(bool value) { on = value; }
  void fields(Fields& f) {
    f("on", on, "whether there is a skip connection");
    f("scale", scale, attnlab::at_least(0), "its factor");
  }
};

struct DropoutSpec {
  using Scalar = double;
  double attention = 0.1, residual = 0.1;
  void set_all(double value) { attention = residual = value; }
  void fields(Fields& f) {
    f("attention", attention, attnlab::between(0, 1, attnlab::upper_exclusive), "on attention weights");
    f("residual", residual, attnlab::between(0, 1, attnlab::upper_exclusive), "on the output of a sublayer");
  }
};

struct NormSpec {
  using Scalar = std::string;
  Norm place = Norm::pre;
  double epsilon = 1e-5;
  void set_all(const std::string& name) {
    if (name != "pre" && name != "post" && name != "none")
      throw attnlab::ConfigError("must be one of pre, post, none");
    place = name == "pre" ? Norm::pre : name == "post" ? Norm::post : Norm::none;
  }
  void fields(Fields& f) {
    f.choice("place", place, {{"pre", Norm::pre}, {"post", Norm::post}, {"none", Norm::none}},
             "where it stands");
    f("epsilon", epsilon, attnlab::above(0), "added to the variance");
  }
};

struct LayerSpec {
  std::int64_t layers = 4;
  SkipSpec skip;
  NormSpec norm;
  DropoutSpec dropout;
  std::shared_ptr<ShapeSpec> shape = std::make_shared<BandSpec>();
  void fields(Fields& f) {
    f("layers", layers, attnlab::at_least(1), "number of layers");
    f.scalar_or_section("skip", skip, "skip connections");
    f.scalar_or_section("norm", norm, "normalisation");
    f.scalar_or_section("dropout", dropout, "dropout");
    f.kind("shape", shape, "what each token sees");
    f.check(layers < 100 || skip.on, "layers", "so many layers need skip connections");
  }
};

struct ModelSpec {
  std::int64_t width = 64, heads = 4;
  LayerSpec common, encoder, decoder;
  void fields(Fields& f) {
    f("width", width, attnlab::at_least(1), "numbers a token", "numbers");
    f("heads", heads, attnlab::at_least(1), "attention heads");
    common.fields(f);
    f.inherits("encoder", encoder, common, "the encoder");
    f.inherits("decoder", decoder, common, "the decoder");
    f.check(width % heads == 0, "heads", "width must be a multiple of heads");
  }
};

struct TrainSpec {
  double learning_rate = 3e-4;
  std::optional<std::int64_t> max_steps;
  std::optional<double> clip = 1.0;
  std::optional<std::string> from;
  std::optional<bool> fast;
  std::vector<std::string> trainable{"*"};
  std::vector<double> betas{0.9, 0.999};
  std::vector<std::int64_t> milestones;
  void fields(Fields& f) {
    f("learning_rate", learning_rate, attnlab::above(0), "peak rate");
    f("max_steps", max_steps, attnlab::at_least(1), "stop after so many steps", "steps");
    f("clip", clip, attnlab::above(0), "norm to clip at");
    f("from", from, "run to start from");
    f("fast", fast, "tri-state");
    f("trainable", trainable, "patterns of parameter names");
    f("betas", betas, attnlab::between(0, 1, attnlab::upper_exclusive), "of AdamW");
    f("milestones", milestones, attnlab::at_least(0), "steps to report");
    f.check(betas.size() == 2, "betas", "needs two numbers");
  }
};

struct RunSpec {
  std::string name = "run";
  std::int64_t seed = 1;
  bool deterministic = true;
  ModelSpec model;
  TrainSpec train;
  void fields(Fields& f) {
    f("name", name, "name of the run");
    f("seed", seed, "of everything random");
    f("deterministic", deterministic, "the same bits at any thread count");
    f.section("model", model, "the model");
    f.section("train", train, "the training");
  }
};

// What is wrong with a text read as a RunSpec; empty if nothing is.
inline std::string problems_in(const attnlab::Tree& tree) {
  RunSpec spec;
  try {
    attnlab::read_spec(tree, spec);
  } catch (const attnlab::ConfigError& error) {
    return error.what();
  }
  return {};
}
inline std::string problems_in(std::string_view text) {
  return problems_in(attnlab::Tree::parse(text, "a.yaml"));
}
inline std::string problems_of_set(const std::string& assignment) {
  return problems_in(attnlab::Tree::load({}, {assignment}));
}

inline RunSpec read(const attnlab::Tree& tree) {
  RunSpec spec;
  attnlab::read_spec(tree, spec);
  return spec;
}
inline RunSpec read(std::string_view text) { return read(attnlab::Tree::parse(text, "a.yaml")); }

// A random layer as YAML, and sometimes nothing.
inline std::string random_layer(std::mt19937& random, int depth) {
  const auto pick = [&random](std::vector<std::string> options) {
    return options[random() % options.size()];
  };
  std::string text;
  const std::string indent(static_cast<std::size_t>(2 * depth), ' ');
  if (random() % 2) text += indent + "layers: " + pick({"1", "4", "7"}) + "\n";
  if (random() % 2)
    text += indent + "skip: " + pick({"true", "false", "{scale: 0.5}", "{on: false, scale: 2}"}) + "\n";
  if (random() % 2)
    text += indent + "norm: " + pick({"post", "none", "{place: pre}", "{epsilon: 1e-3}"}) + "\n";
  if (random() % 2) text += indent + "dropout: " + pick({"0", "0.1", "{residual: 0.2}"}) + "\n";
  if (random() % 2)
    text += indent + "shape: " +
            pick({"plain", "band", "feature", "{kind: band, width: 3}",
                  "{kind: feature, features: 5, inner: band}", "{gain: 2}",
                  "{kind: feature, inner: {kind: feature, gain: 3}}", "{kind: plain, gain: 0.25}"}) +
            "\n";
  return text;
}

// A random RunSpec as YAML.
inline std::string random_model(std::mt19937& random) {
  std::string text = "model:\n  width: 8\n" + random_layer(random, 1);
  for (const char* side : {"  encoder:\n", "  decoder:\n"}) text += side + random_layer(random, 2);
  return text;
}

}  // namespace config_test
