// What differs from the defaults: the same text for the same values, whatever keys are added later.
#include "config/departures.h"
#include "specs.h"
#include "support/catch.h"

using namespace attnlab;
using namespace config_test;

namespace {

struct Before {
  std::int64_t heads = 4;
  SkipSpec skip;
  void fields(Fields& f) {
    f("heads", heads, "attention heads");
    f.section("skip", skip, "skip connections");
  }
};

// The same after keys were added: a value, a section, a kind.
struct After : Before {
  std::optional<std::int64_t> groups;
  NormSpec norm;
  std::shared_ptr<ShapeSpec> shape = std::make_shared<BandSpec>();
  void fields(Fields& f) {
    f("groups", groups, "of heads");
    Before::fields(f);
    f.section("norm", norm, "normalisation");
    f.kind("shape", shape, "what each token sees");
  }
};

// A section whose default is no default of the kind.
struct Wide {
  std::shared_ptr<ShapeSpec> shape = wide();
  static std::shared_ptr<ShapeSpec> wide() {
    auto band = std::make_shared<BandSpec>();
    band->width = 99;
    return band;
  }
  void fields(Fields& f) { f.kind("shape", shape, "what each token sees"); }
};

bool same(const RunSpec& a, const RunSpec& b) { return diff(a, b).empty() && diff(b, a).empty(); }

}  // namespace

TEST_CASE("What is as by default is not said") {
  CHECK(write_departures(RunSpec{}) == "{}\n");
  CHECK(write_departures(read("model: {layers: 4, shape: {kind: band, width: 16}}")) == "{}\n");
  CHECK(write_departures(read("seed: 2\ntrain: {clip: null}")) == "seed: 2\ntrain:\n  clip: null\n");
  CHECK(write_departures(read("model: {decoder: {shape: {kind: feature, inner: {kind: band, width: 3}}}}")) ==
        "model:\n  decoder:\n    shape:\n      kind: feature\n      inner:\n        kind: band\n        "
        "width: 3\n");
}

TEST_CASE("A key that is added with a default leaves the text as it was") {
  Before before;
  After after;
  CHECK(write_departures(after) == write_departures(before));
  before.heads = after.heads = 2;
  before.skip.scale = after.skip.scale = 0.5;
  CHECK(write_departures(after) == write_departures(before));
  after.shape = std::make_shared<PlainSpec>();
  CHECK(write_departures(after) != write_departures(before));
}

TEST_CASE("The default of a section and that of its kind are told apart") {
  Wide usual, narrow;
  narrow.shape = std::make_shared<BandSpec>();
  CHECK(write_departures(usual) == "{}\n");
  CHECK(write_departures(narrow) == "shape:\n  kind: band\n");
}

TEST_CASE("Texts are equal if and only if the values are") {
  std::mt19937 random(5);
  std::vector<RunSpec> specs;
  for (int i = 0; i < 120; ++i) specs.push_back(read(random_model(random)));
  int equal = 0;
  for (std::size_t i = 0; i < specs.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const bool alike = same(specs[i], specs[j]);
      if (alike) ++equal;
      CHECK((write_departures(specs[i]) == write_departures(specs[j])) == alike);
    }
  CHECK(equal >= 120);
  // Said in two ways.
  CHECK(write_departures(read("model: {skip: false, encoder: {shape: band}}")) ==
        write_departures(read("model: {skip: {on: false}, encoder: {layers: 4, skip: {on: false}}}")));
}
