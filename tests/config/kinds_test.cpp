// Registry and kind sections. The kinds of specs.h are registered here, once for the test program.
#include <algorithm>
#include <typeinfo>

#include "specs.h"
#include "support/catch.h"

using namespace attnlab;
using namespace config_test;

namespace {

const Registered<ShapeSpec, PlainSpec> plain{"plain", "sees everything"};
const Registered<ShapeSpec, BandSpec> band{"band", "sees its neighbours"};
const Registered<ShapeSpec, FeatureSpec> feature{"feature", "sees through features"};

struct Unregistered : ShapeSpec {};

const BandSpec& as_band(const std::shared_ptr<ShapeSpec>& spec) {
  return dynamic_cast<const BandSpec&>(*spec);
}
const FeatureSpec& as_feature(const std::shared_ptr<ShapeSpec>& spec) {
  return dynamic_cast<const FeatureSpec&>(*spec);
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing thrown";
}

}  // namespace

TEST_CASE("A registry lists its kinds in name order, makes, names and copies them") {
  const auto kinds = Registry<ShapeSpec>::list();
  REQUIRE(kinds.size() == 3);
  CHECK(kinds[0].name == "band");
  CHECK(kinds[1].name == "feature");
  CHECK(kinds[2].name == "plain");
  CHECK(kinds[0].doc == "sees its neighbours");
  const auto names = registry_names();
  CHECK(std::find(names.begin(), names.end(), "shape") != names.end());
  CHECK(registry_entries("no such registry").empty());

  const std::shared_ptr<ShapeSpec> made = Registry<ShapeSpec>::make("band");
  CHECK(as_band(made).width == 16);
  CHECK(Registry<ShapeSpec>::name_of(*made) == "band");
  BandSpec wide;
  wide.width = 99;
  wide.gain = 3;
  const std::shared_ptr<ShapeSpec> copy = Registry<ShapeSpec>::clone(wide);
  CHECK(as_band(copy).width == 99);
  CHECK(copy->gain == 3);
}

TEST_CASE("A registry refuses what it does not know and what it has already") {
  CHECK_THROWS_AS(Registry<ShapeSpec>::make("bandd"), ConfigError);
  CHECK(message_of([]() { Registry<ShapeSpec>::make("bandd"); }) ==
        "unknown kind 'bandd' of shape, did you mean 'band'?; known kinds: band, feature, plain");
  CHECK(message_of([]() { Registry<ShapeSpec>::make("zzzzzz"); }) ==
        "unknown kind 'zzzzzz' of shape; known kinds: band, feature, plain");
  CHECK_THROWS_AS(Registry<ShapeSpec>::name_of(Unregistered{}), std::logic_error);
  const auto again = []() { add_to_registry("shape", registry_entry("shape", "band")); };
  CHECK_THROWS_AS(again(), std::logic_error);
  CHECK(message_of(again) == "the kind 'band' of shape is registered twice");
  const auto renamed = []() {
    RegistryEntry entry = registry_entry("shape", "band");
    entry.name = "ribbon";
    add_to_registry("shape", entry);
  };
  CHECK_THROWS_AS(renamed(), std::logic_error);
  CHECK(message_of(renamed) == "the kind 'ribbon' of shape is registered twice, also as 'band'");
  CHECK(Registry<ShapeSpec>::list().size() == 3);
  CHECK_NOTHROW(check_registries());
}

TEST_CASE("A kind is given by name, by section, or by the keys of the default kind") {
  CHECK(as_band(read("model: {shape: {width: 3}}").model.common.shape).width == 3);
  CHECK(as_feature(read("model: {shape: feature}").model.common.shape).features == 64);
  CHECK(as_feature(read("model: {shape: {features: 8, kind: feature}}").model.common.shape).features == 8);
  CHECK(as_band(read("model: {shape: }").model.common.shape).width == 16);
}

TEST_CASE("Another kind starts from its own defaults, the same kind keeps what was set") {
  Tree tree = Tree::parse("model: {shape: {kind: band, width: 3, gain: 2}}");
  tree.set("model.shape.kind=band");
  CHECK(as_band(read(tree).model.common.shape).width == 3);
  tree.set("model.shape=band");
  CHECK(as_band(read(tree).model.common.shape).width == 3);
  tree.set("model.shape={kind: feature, features: 9}");
  CHECK(as_feature(read(tree).model.common.shape).features == 9);
  CHECK(read(tree).model.common.shape->gain == 1);  // not 2: that was said of the other kind
  tree.set("model.shape.kind=band");
  tree.set("model.shape.gain=5");
  CHECK(as_band(read(tree).model.common.shape).width == 16);
  CHECK(read(tree).model.common.shape->gain == 5);

  Tree by_name = Tree::parse("model: {shape: feature}");
  by_name.set("model.shape.features=7");
  CHECK(as_feature(read(by_name).model.common.shape).features == 7);
}

TEST_CASE("Reading a kind leaves the specs it was copied from alone") {
  RunSpec first;
  RunSpec second = first;
  read_spec(Tree::parse("model: {shape: {width: 3}}"), second);
  CHECK(as_band(first.model.common.shape).width == 16);
  CHECK(as_band(second.model.common.shape).width == 3);
  const RunSpec inherited = read("model: {shape: {width: 3}, encoder: {shape: {width: 5}}}");
  CHECK(as_band(inherited.model.common.shape).width == 3);
  CHECK(as_band(inherited.model.encoder.shape).width == 5);
  CHECK(as_band(inherited.model.decoder.shape).width == 3);
}

TEST_CASE("Kinds inside kinds, and kinds that may be unset") {
  const RunSpec spec = read("model: {shape: {kind: feature, inner: {kind: band, width: 2}}}");
  CHECK(as_band(as_feature(spec.model.common.shape).inner).width == 2);
  CHECK(as_feature(read("model: {shape: {kind: feature, inner: null}}").model.common.shape).inner == nullptr);
  CHECK(problems_in("model:\n  shape:\n    kind: feature\n    inner: {width: 2}\n") ==
        "a.yaml:4:5: error: 'model.shape.inner' needs a kind of shape, as 'kind: NAME'");
}

TEST_CASE("Problems with kinds") {
  CHECK(problems_in("model:\n  shape:\n    kind: bandd\n    wdith: 3\n") ==
        "a.yaml:3:11: error: 'model.shape' has an unknown kind 'bandd' of shape, did you mean 'band'?; known "
        "kinds: "
        "band, feature, plain");
  CHECK(problems_in("model: {shape: bnd}") ==
        "a.yaml:1:16: error: 'model.shape' has an unknown kind 'bnd' of shape, did you mean 'band'?; known "
        "kinds: band, "
        "feature, plain");
  CHECK(problems_in("model: {shape: [band]}") ==
        "a.yaml:1:16: error: 'model.shape' must be a kind of shape or a section, found a list");
  CHECK(problems_in("model: {shape: {kind: [band]}}") ==
        "a.yaml:1:23: error: 'model.shape.kind' must be a name, found a list");
  CHECK(problems_in("model:\n  shape:\n    kind: feature\n    width: 3\n") ==
        "a.yaml:4:5: error: unknown key 'model.shape.width' for kind 'feature'; it belongs to 'model' or "
        "'model.shape' "
        "with model.shape.kind=band");
  CHECK(problems_in("model: {shape: {widht: 3}}") ==
        "a.yaml:1:17: error: unknown key 'model.shape.widht' for kind 'band', did you mean 'width'?");
}
