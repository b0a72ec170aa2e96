// The list of all keys, as data, table and JSON.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/schema.h"
#include "specs.h"
#include "support/catch.h"

using namespace attnlab;
using namespace config_test;

namespace {

const FieldDoc& field(const std::vector<FieldDoc>& fields, const std::string& path) {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&path](const FieldDoc& f) { return f.path == path; });
  REQUIRE(found != fields.end());
  return *found;
}

struct SolidSpec {
  static constexpr const char* kRegistry = "solid";
  virtual ~SolidSpec() = default;
  std::string name = "x";
  virtual void fields(Fields& f) { f("name", name, "its name"); }
};
struct CubeSpec : SolidSpec {
  double side = 1;
  void fields(Fields& f) override {
    f("side", side, above(0), "length");
    SolidSpec::fields(f);
  }
};
struct LineSpec : CubeSpec {};
struct DiscSpec : SolidSpec {
  double radius = 1;
  void fields(Fields& f) override {
    SolidSpec::fields(f);
    f("radius", radius, above(0), "half its width");
  }
};
const Registered<SolidSpec, CubeSpec> cube{"cube", ""};
const Registered<SolidSpec, LineSpec> line{"line", ""};
const Registered<SolidSpec, DiscSpec> disc{"disc", ""};

struct BoxSpec {
  std::shared_ptr<SolidSpec> solid = std::make_shared<CubeSpec>();
  void fields(Fields& f) { f.kind("solid", solid, "what is in it"); }
};

}  // namespace

TEST_CASE("Every key is described, those of all kinds included") {
  const std::vector<FieldDoc> fields = describe(RunSpec{});
  std::string paths;
  for (const FieldDoc& f : fields) paths += f.path + (f.when.empty() ? "" : " (" + f.when + ")") + "\n";
  CHECK(paths ==
        "name\nseed\ndeterministic\nmodel\nmodel.width\nmodel.heads\nmodel.layers\n"
        "model.skip\nmodel.skip.on\nmodel.skip.scale\nmodel.norm\nmodel.norm.place\nmodel.norm.epsilon\n"
        "model.dropout\nmodel.dropout.attention\nmodel.dropout.residual\n"
        "model.shape\nmodel.shape.gain\n"
        "model.shape.width (model.shape.kind=band)\nmodel.shape.causal (model.shape.kind=band)\n"
        "model.shape.features (model.shape.kind=feature)\nmodel.shape.inner (model.shape.kind=feature)\n"
        "model.encoder\nmodel.decoder\n"
        "train\ntrain.learning_rate\ntrain.max_steps\ntrain.clip\ntrain.from\ntrain.fast\ntrain."
        "trainable\ntrain.betas\n"
        "train.milestones\n");
  const FieldDoc& width = field(fields, "model.width");
  CHECK(width.type == "whole number");
  CHECK(width.value == "64");
  CHECK(width.range == "at least 1");
  CHECK(width.unit == "numbers");
  CHECK(width.doc == "numbers a token");
  CHECK(field(fields, "model.shape").type == "kind of shape");
  CHECK(field(fields, "model.shape").value == "band");
  CHECK(field(fields, "model.shape").choices == std::vector<std::string>{"band", "feature", "plain"});
  CHECK(field(fields, "model.norm.place").choices == std::vector<std::string>{"pre", "post", "none"});
  CHECK(field(fields, "model.skip").type == "true or false or section");
  CHECK(field(fields, "train.max_steps").type == "whole number or null");
  CHECK(field(fields, "train.max_steps").value == "null");
  CHECK(field(fields, "train.betas").type == "list of numbers");
  CHECK(field(fields, "train.betas").value == "[0.9, 0.999]");
  CHECK(field(fields, "train.trainable").value == "[\"*\"]");
  CHECK(field(fields, "model.encoder").is_copy);
  CHECK(field(fields, "model.encoder").inherits == "model");
}

TEST_CASE("Defaults are within their ranges: a default spec written is accepted") {
  CHECK(problems_in(write_spec(RunSpec{})).empty());
}

TEST_CASE("Keys that some kinds share come once") {
  BoxSpec spec;
  const std::vector<FieldDoc> fields = describe(spec);
  REQUIRE(fields.size() == 4);
  CHECK(fields[0].choices == std::vector<std::string>{"cube", "disc", "line"});
  CHECK((fields[1].path == "solid.side" && fields[1].when == "solid.kind=cube|line"));
  CHECK((fields[2].path == "solid.name" && fields[2].when.empty()));
  CHECK((fields[3].path == "solid.radius" && fields[3].when == "solid.kind=disc"));
}

TEST_CASE("The schema for a terminal and for documents") {
  const std::string text = schema_text(describe(RunSpec{}));
  CHECK(text.find("\nmodel.width = 64\n    numbers a token (whole number, at least 1, in numbers)\n") !=
        std::string::npos);
  CHECK(text.find(
            "\nmodel.shape.width = 16\n    neighbours on each side (whole number, at least 1, in tokens)\n"
            "    only with model.shape.kind=band\n") != std::string::npos);
  CHECK(text.find("\nmodel.norm.place = pre\n    where it stands (choice: pre, post, none)\n") !=
        std::string::npos);
  CHECK(text.find("\nmodel.encoder\n    the encoder (section)\n    has all keys and values of model\n") !=
        std::string::npos);
  const std::string table = schema_markdown(describe(BoxSpec{}));
  CHECK(table.starts_with("| key | type | default | meaning |\n|---|---|---|---|\n"));
  CHECK(
      table.find("| `solid.side` | number, above 0 | `1.0` | length; only with solid.kind=cube\\|line |\n") !=
      std::string::npos);
}

TEST_CASE("The schema as JSON") {
  const auto json = nlohmann::json::parse(schema_json(describe(RunSpec{})));
  REQUIRE(json.is_array());
  CHECK(json.size() == describe(RunSpec{}).size());
  CHECK(json[0]["path"] == "name");
  CHECK(json[0]["default"] == "run");
  CHECK(json[4]["range"] == "at least 1");
  CHECK(json[4]["unit"] == "numbers");
  CHECK(std::any_of(json.begin(), json.end(),
                    [](const auto& f) { return f.value("when", "") == "model.shape.kind=band"; }));
}
