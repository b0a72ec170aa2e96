// Published models read and written again: the same tensors, bit for bit.
#include "train/export_model.h"

#include <cmath>

#include "config/error.h"
#include "config/spec.h"
#include "support/catch.h"
#include "support/scratch.h"
#include "train/build_model.h"
#include "train/fetch_model.h"
#include "train/published_model.h"
#include "train/starting_weights.h"

using namespace attnlab;

namespace {

std::string golden_folder(const std::string& name) {
  return std::string(ATTNLAB_SOURCE_DIR) + "/tests/golden/published/" + name;
}

struct Loaded {
  explicit Loaded(const std::string& from, const std::vector<std::string>& assignments = {}) {
    Tree tree = Tree::load({}, {"model.from=" + from});
    for (const auto& assignment : assignments) tree.set(assignment);
    read_spec(tree, spec);
    built = build_model(spec, {41, 41, true}, DType::f32, false);
    load_starting_weights(spec, *built);
  }
  ExperimentSpec spec;
  std::unique_ptr<BuiltModel> built;
};

}  // namespace

TEST_CASE("a published model, read and written, has the same tensors bit for bit") {
  for (const std::string name : {"gpt2", "bert", "llama"}) {
    INFO(name);
    const ScratchFolder scratch;
    const Loaded loaded(golden_folder(name));
    const ExportReport report = export_model(loaded.spec.model, loaded.built->parameters, "", scratch.path());
    CHECK(report.family == name);
    CHECK(report.left_out.empty());
    WeightFiles before(golden_folder(name)), after(scratch.path());
    REQUIRE(before.names() == after.names());
    CHECK(after.metadata().at("format") == "pt");
    for (const auto& tensor : before.names()) {
      INFO(tensor);
      CHECK(before.entry(tensor).shape == after.entry(tensor).shape);
      CHECK(before.read(tensor, DType::f32).to_doubles() == after.read(tensor, DType::f32).to_doubles());
    }
    const Loaded again(scratch.path().string());
    for (const auto& difference : diff(loaded.spec.model, again.spec.model)) CHECK(difference.path == "from");
  }
}

TEST_CASE("rotary positions that pair neighbours are written in halves, with the same logits") {
  const ScratchFolder scratch;
  ExperimentSpec spec;
  read_spec(Tree::load({}, {"model.kind=decoder", "model.layers=2", "model.width=48", "model.heads=4",
                            "model.attention={kind: scaled_dot, key_value_heads: 2}",
                            "model.positions={kind: rotary, rotary_pairs: neighbours}",
                            "model.norm={kind: rms_norm, epsilon: 1e-5}",
                            "model.mlp={activation: silu, gated: true}", "model.embedding_scale=one",
                            "model.output_bias=false", "model.dropout=0"}),
            spec);
  const auto built = build_model(spec, {41, 41, true}, DType::f32, false);
  for (const auto& parameter : built->parameters.all()) {  // biases start at zero, where no order shows
    float place = 0;
    if (parameter->buffer()) continue;  // gates
    for (float& number : parameter->value().values<float>()) number += 0.3F * std::sin(place++);
  }
  const ExportReport report = export_model(spec.model, built->parameters, "", scratch.path());
  CHECK(report.family == "llama");
  const Loaded again(scratch.path().string());
  CHECK(again.spec.model.positions.rotary_pairs == RotaryPairs::halves);
  Tape tape({.training = false});
  DecoderState ours = built->model->start(1), theirs = again.built->model->start(1);
  for (const Token token : {7, 3, 39, 3, 12}) {
    const TokenRows word{{token}, Sequences::of_lengths({1})};
    const auto a = built->model->step(tape, ours, word).value().to_doubles();
    const auto b = again.built->model->step(tape, theirs, word).value().to_doubles();
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a[i] - b[i]) < 1e-4);
  }
}

TEST_CASE("a model that no family can say is refused, with what it is that they cannot say") {
  const auto error_of = [](const std::vector<std::string>& assignments,
                           const std::string& family) -> std::string {
    const ScratchFolder scratch;
    ExperimentSpec spec;
    Tree tree = Tree::load({}, {"model.kind=decoder"});
    for (const auto& assignment : assignments) tree.set(assignment);
    read_spec(tree, spec);
    const auto built = build_model(spec, {41, 41, true}, DType::f32, false);
    try {
      export_model(spec.model, built->parameters, family, scratch.path() / "out");
    } catch (const ConfigError& error) {
      CHECK_FALSE(std::filesystem::exists(scratch.path() / "out"));
      return error.what();
    }
    return "";
  };
  const std::vector<std::string> gpt2{"model.positions=learned", "model.embedding_scale=one",
                                      "model.mlp.activation=gelu_tanh"};
  CHECK(error_of(gpt2, "").empty());
  CHECK(error_of({}, "gpt2").find("positions.kind sinusoidal (it can say learned)") != std::string::npos);
  auto windowed = gpt2;
  windowed.push_back("model.attention.kind=window");
  CHECK(error_of(windowed, "").find("attention.kind window") != std::string::npos);
  CHECK(error_of({}, "gpt3").find("gpt3") != std::string::npos);
}

TEST_CASE("a model of one's own head keeps its body; the head is said to be left out, and why") {
  const ScratchFolder scratch;
  const Loaded loaded(golden_folder("bert"), {"model.head=mean", "model.output_transform=false"});
  const ExportReport report =
      export_model(loaded.spec.model, loaded.built->parameters, "bert", scratch.path());
  const std::string why =
      " (published models of the family bert have no place for the head of a task; it stays in the run)";
  CHECK(report.left_out == std::vector<std::string>{"output.weight" + why, "output.bias" + why});
  CHECK(WeightFiles(scratch.path()).has("embeddings.word_embeddings.weight"));
}

TEST_CASE("models are fetched from a folder or an address, known ones by checksum") {
  const ScratchFolder scratch;
  const FetchModelOptions options{scratch.path() / "models", {}, {}};
  const auto folder = fetch_model("file://" + golden_folder("gpt2"), options);
  CHECK(folder == scratch.path() / "models" / "gpt2");
  CHECK(Loaded(folder.string()).spec.model.width == 24);
  CHECK_THROWS_AS(fetch_model("file://" + golden_folder("none"), options), IoError);

  // A hub's address names its model, and a folder belongs to one address.
  for (const std::string owner : {"one", "other"}) {
    const auto hub = scratch.path() / owner / "tiny" / "resolve";
    std::filesystem::create_directories(hub);
    std::filesystem::create_symlink(golden_folder(owner == "one" ? "gpt2" : "bert"), hub / "main");
  }
  const std::string hub = "file://" + scratch.path().string();
  CHECK_THROWS_AS(fetch_model(hub + "/nobody/tiny/resolve/main", options), IoError);
  CHECK(fetch_model(hub + "/one/tiny/resolve/main/", options) == options.root / "tiny");
  CHECK(fetch_model(hub + "/one/tiny/resolve/main", options) == options.root / "tiny");
  CHECK_THROWS_WITH(fetch_model(hub + "/other/tiny/resolve/main", options), containing("tiny is of file://"));
  CHECK(Loaded((options.root / "tiny").string()).spec.model.width == 24);
  CHECK_THROWS_AS(fetch_model("gpt-2", options), ConfigError);
  FetchModelOptions from = options;
  from.from = golden_folder("bert");
  CHECK_THROWS_AS(fetch_model("all-minilm-l6-v2", from), DataError);  // another checksum
  std::filesystem::copy_file(golden_folder("bert") + "/model.safetensors",
                             options.root / "all-minilm-l6-v2" / "model.safetensors");
  CHECK_THROWS_AS(fetch_model("all-minilm-l6-v2", options), DataError);  // also if it is there already
}
