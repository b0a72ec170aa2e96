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

TEST_CASE("The schema as a table") {
  const std::string table = schema_table(describe(TrainSpec{}));
  CHECK(table.starts_with("KEY            TYPE "));
  CHECK(table.find("\nlearning_rate  number, above 0") != std::string::npos);
  CHECK(table.find("stop after so many steps [steps]\n") != std::string::npos);
  CHECK(schema_table(describe(RunSpec{})).find("the encoder (keys and values of 'model')") !=
        std::string::npos);
  CHECK(schema_table(describe(RunSpec{})).find("tokens] (with model.shape.kind=band)") != std::string::npos);
  CHECK(schema_markdown(describe(TrainSpec{}))
            .find("| `betas` | list of numbers, at least 0 and below 1 | `[0.9, 0.999]` | of AdamW |\n") !=
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
