// Runs that went on under another configuration or other code are no study's.
#include "config/error.h"
#include "config/spec.h"
#include "study/identity.h"
#include "study/study.h"
#include "support/catch.h"
#include "support/scratch.h"
#include "train/durable_file.h"
#include "train/record.h"

using namespace attnlab;
namespace fs = std::filesystem;

namespace {

constexpr const char* kConfig = R"(
name: first
precision: f32
data: {task: {kind: reverse, train: 50, valid: 8, test: 8}}
model: {width: 16, heads: 2, layers: 1}
train: {max_steps: 20}
)";

std::unique_ptr<ExperimentSpec> changed(const std::vector<std::string>& assignments) {
  Tree tree = Tree::parse(kConfig);
  for (const auto& assignment : assignments) tree.set(assignment);
  return experiment_of(tree);
}

// A run that diverged at once, which needs no checkpoint to be one.
void write_run(const fs::path& folder, const Record& noted) {
  const auto spec = changed({});
  Record environment{{"precision", std::string("f32")}, {"data_hash", content_hash(spec->data.load())}};
  environment.append(noted);
  write_durably(folder / "config.yaml", write_spec(*spec));
  write_durably(folder / "environment.json", to_json_text(environment));
  write_durably(folder / "result.json", R"({"status": "diverged"})");
}

}  // namespace

TEST_CASE("what makes another training of a run, and what does not") {
  const ScratchFolder scratch;
  CHECK(training_differences(*changed({"seed=9"}), scratch.path()).empty());  // nothing is there
  write_run(scratch.path(), {});
  const auto keys = [&scratch](const std::vector<std::string>& assignments) {
    std::vector<std::string> paths;
    for (const auto& difference : training_differences(*changed(assignments), scratch.path()))
      paths.push_back(difference.path);
    return paths;
  };
  using Keys = std::vector<std::string>;
  CHECK(keys({"name=other", "data.root=/elsewhere", "train.log_every=7", "log.tensorboard=true",
              "expect.score=3", "decode.beam=9"}) == Keys{});
  CHECK(keys({"train.max_steps=30"}) == Keys{"train.max_steps"});
  CHECK(keys({"precision=f64"}) == Keys{"precision"});
  CHECK(keys({"model.from=nowhere"}) == Keys{"model.from"});
  CHECK(keys({"data.task.train=51"}) == Keys{"data.task.train"});
  const auto longer = training_differences(*changed({"train.max_steps=30"}), scratch.path());
  CHECK(longer.front().a == "20");
  CHECK(longer.front().b == "30");
  write_durably(scratch.path() / "config.yaml", "modle: {}\n");
  CHECK_THROWS_AS(keys({}), ConfigError);
}

TEST_CASE("a mixed run has no identity, one of two programs that of neither") {
  const ScratchFolder scratch;
  const std::string here = program_digest();
  write_run(scratch.path(), {{"code", here}});
  REQUIRE(identity_of_folder(scratch.path()));
  CHECK(identity_of_folder(scratch.path())->code == here);
  write_run(scratch.path(), {{"code", here}, {"mixed", true}, {"mixed_by", std::string("configuration")}});
  CHECK_FALSE(identity_of_folder(scratch.path()));
  const std::string both = std::string(64, '0') + " and " + here;
  write_run(scratch.path(), {{"code", both}, {"mixed", true}, {"mixed_by", std::string("code")}});
  REQUIRE(identity_of_folder(scratch.path()));
  CHECK(identity_of_folder(scratch.path())->code == both);
}
