// Frozen bodies: what trains, at which rate, what stays as it is, and features computed once.
#include <cmath>

#include "config/error.h"
#include "support/catch.h"
#include "support/scratch.h"
#include "train/durable_file.h"
#include "train/evaluation.h"
#include "train/features.h"
#include "train/program_digest.h"
#include "train/small_run.h"
#include "train/starting_weights.h"
#include "train/task_shape.h"

using namespace attnlab;

namespace {

constexpr const char* kConfig = R"(
precision: f32
data: {task: {kind: bit_xor, bits: 3, train: 256, valid: 8, test: 8}}
model:
  {kind: decoder, width: 16, layers: 2, heads: 2, feed_forward: 24, head: last, dropout: 0,
   positions: {kind: learned, max_length: 8}, init: {rule: normal, standard_deviation: 0.2}}
train: {learning_rate: 0.01, schedule: constant, optimizer: sgd, batch_tokens: 48, max_steps: 20, clip: 0}
)";

struct Run : SmallRun {
  explicit Run(const std::vector<std::string>& assignments = {}) : SmallRun(kConfig, assignments) {}
  std::vector<std::string> training() const {
    std::vector<std::string> names;
    for (const auto& parameter : built->parameters.all())
      if (parameter->trainable()) names.push_back(parameter->name());
    return names;
  }
  // How far the first step moves a parameter, relative to its gradient: the rate of plain descent.
  double rate_of(const std::string& name) const {
    const Parameter& parameter = *built->parameters.find(name);
    const auto before = parameter.value().to_doubles();
    trainer->step();
    const auto after = parameter.value().to_doubles(), gradient = parameter.gradient().to_doubles();
    double moved = 0, slope = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      moved += (before[i] - after[i]) * gradient[i];
      slope += gradient[i] * gradient[i];
    }
    return moved / slope;
  }
};

using Names = std::vector<std::string>;

// Encoder and decoder of two layers each.
constexpr const char* kTwoStacks = R"(
precision: f32
data: {task: {kind: copy, symbols: 5, min_length: 2, max_length: 4, train: 10, valid: 2, test: 2}}
model: {width: 8, layers: 2, heads: 2, feed_forward: 12}
train: {max_steps: 1}
)";

void save(const SmallRun& run, const ScratchFolder& scratch) {
  CheckpointStore store(scratch.path() / "checkpoints", run.trainer->retention());
  run.trainer->save(store);
}

// What is wrong with the weights to start from; empty if they are taken over.
template <class Error>
std::string refusal(SmallRun&& run) {
  try {
    load_starting_weights(run.spec, *run.built);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("presets choose the parts that Lu et al. 2021 speak of") {
  const auto with = [](const std::string& trainable) {
    return Run({"train.trainable=" + trainable}).training();
  };
  CHECK(with("head_only") == Names{"output.weight", "output.bias"});
  CHECK(with("norms").size() == 2 * 2 * 2 + 2);
  CHECK(with("norm_gains").size() == 5);
  CHECK(with("norm_biases").size() == 5);
  CHECK(with("input") == Names{"input.weight", "input.bias"});
  CHECK(with("positions") == Names{"target_positions.weight"});
  CHECK(with("fpt").size() == 10 + 2 + 1 + 2);
  CHECK(with("attention").size() == 2 * 8);
  CHECK(with("mlp").size() == 2 * 4);
  const Names last = with("last_attention");
  CHECK(last.size() == 8);
  for (const auto& name : last) CHECK(name.starts_with("decoder.layers.1.self_attention."));
  CHECK(with("['decoder.layers.{last}.mlp.*']").size() == 6);
  CHECK(with("[fpt, mlp]").size() == 15 + 8);
  CHECK_THROWS_AS(Run({"train.trainable=[fpt, no_such_part]"}), ConfigError);
}

TEST_CASE("presets of maps leave the adapters beside them out") {
  const auto with = [](const std::string& trainable, const std::string& backbone = "attention") {
    return Run({"train.trainable=" + trainable, "model.backbone=" + backbone,
                "model.adapters={rank: 2, targets: ['*']}"})
        .training();
  };
  CHECK(with("attention").size() == 2 * 8);
  CHECK(with("mlp").size() == 2 * 4);
  CHECK(with("last_attention").size() == 8);
  CHECK(with("last_mlp").size() == 4);
  CHECK(with("lstm", "lstm").size() == 2 * 3);
  CHECK(with("[last_mlp, adapters]").size() == 4 + 2 * 6 * 2);
}

TEST_CASE("parts have learning rates and schedules of their own") {
  const std::vector<std::string> groups{
      "train.groups.norms.learning_rate=0.05", "train.groups.output.learning_rate=0.002",
      "train.groups.custom.learning_rate=0.3", "train.groups.custom_patterns=['*.1.mlp.up.weight']"};
  const auto rate = [&groups](const std::string& name) { return Run(groups).rate_of(name); };
  CHECK(rate("decoder.layers.0.mlp.norm.weight") == Approx(0.05).epsilon(1e-3));
  CHECK(rate("output.weight") == Approx(0.002).epsilon(1e-3));
  CHECK(rate("decoder.layers.1.mlp.up.weight") == Approx(0.3).epsilon(1e-3));
  CHECK(rate("decoder.layers.0.mlp.up.weight") == Approx(0.01).epsilon(1e-3));
  const Run scheduled({"train.groups.input.schedule={kind: linear, warmup_steps: 10}"});
  CHECK(scheduled.trainer->rates().rates(1) == std::vector<double>{0.01, 0.001});
  CHECK(scheduled.trainer->rates().table().find("input") != std::string::npos);
  CHECK_THROWS_AS(Run({"train.trainable=norms", "train.groups.mlp.learning_rate=0.1"}), ConfigError);
  CHECK_THROWS_AS(Run({"train.groups.custom.learning_rate=0.1"}), ConfigError);
}

TEST_CASE("a pattern of the custom group that matches nothing is an error") {
  const auto with = [](const std::string& patterns) -> std::string {
    try {
      Run({"train.groups.custom.learning_rate=0.3", "train.groups.custom_patterns=" + patterns});
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(with("['*.mlp.up.weight', '*.1.mlp.down.weight']").empty());
  CHECK(has(with("['*.mlp.up.weight', '*.1.mlp.dwon.weight']"),
            "error: train.groups.custom_patterns: '*.1.mlp.dwon.weight' matches no parameter"));
}

TEST_CASE("what is frozen keeps every bit, the rest moves") {
  const Run run({"train.trainable=fpt", "train.optimizer=adamw"});
  std::map<std::string, std::vector<double>> before;
  for (const auto& parameter : run.built->parameters.all())
    before[parameter->name()] = parameter->value().to_doubles();
  const std::uint32_t digest = frozen_digest(run.built->parameters);
  while (!run.trainer->finished()) run.trainer->step();
  CHECK(frozen_digest(run.built->parameters) == digest);
  for (const auto& parameter : run.built->parameters.all()) {
    INFO(parameter->name());
    CHECK((parameter->value().to_doubles() != before[parameter->name()]) == parameter->trainable());
  }
}

TEST_CASE("adapters train beside a frozen body, at a rate of their own") {
  const std::vector<std::string> adapted{"train.trainable=[adapters, head_only]", "train.optimizer=adamw",
                                         "model.adapters={rank: 2, dropout: 0.1}",
                                         "train.groups.adapters.learning_rate=0.02"};
  const Run run(adapted);
  CHECK(run.training().size() == 2 * 2 * 2 + 2);
  CHECK(run.trainer->rates().rates(1) == std::vector<double>{0.01, 0.02});
  const std::uint32_t digest = frozen_digest(run.built->parameters);
  const std::string name = "decoder.layers.1.self_attention.value.adapter.";
  const auto a = run.built->parameters.find(name + "a")->value().to_doubles();
  while (!run.trainer->finished()) run.trainer->step();
  CHECK(frozen_digest(run.built->parameters) == digest);
  CHECK(run.built->parameters.find(name + "a")->value().to_doubles() != a);
  CHECK(run.built->parameters.find(name + "b")->value().to_doubles() != std::vector<double>(16 * 2, 0.0));
  // The masks of the adapters' dropout belong to rows of the whole step, however it is cut.
  Run whole(adapted), cut(adapted);
  cut.spec.train.accumulate = 3;
  cut.trainer = std::make_unique<Trainer>(cut.spec, cut.task, *cut.built, content_hash(cut.task));
  for (int i = 0; i < 4; ++i)
    CHECK(cut.trainer->step().sums.mean_nll() == Approx(whole.trainer->step().sums.mean_nll()).epsilon(1e-5));
}

TEST_CASE("features computed once give the losses of the whole model, and come from the disk the next time") {
  const ScratchFolder scratch;
  Run whole({"train.trainable=head_only"}), cached({"train.trainable=head_only"});
  const Features features = features_of(cached.spec, cached.task, *cached.built, scratch.path());
  CHECK(features.train.rows() == 256 * 3);
  cached.trainer->use_features(features);
  while (!whole.trainer->finished()) {
    const double loss = whole.trainer->step().sums.mean_nll();
    CHECK(cached.trainer->step().sums.mean_nll() == Approx(loss).epsilon(1e-6));
  }
  CHECK(whole.trainer->validate()->number("valid_nll") ==
        Approx(cached.trainer->validate()->number("valid_nll")).epsilon(1e-6));
  const Features again = features_of(cached.spec, cached.task, *cached.built, scratch.path());
  CHECK(again.train.to_doubles() == features.train.to_doubles());
  CHECK(again.valid.to_doubles() == features.valid.to_doubles());
  CHECK(std::distance(std::filesystem::directory_iterator(scratch.path() / "features"), {}) == 1);
  const Run body({"train.trainable=fpt"});
  CHECK_THROWS_AS(features_of(body.spec, body.task, *body.built, scratch.path()), ConfigError);
}

TEST_CASE("features are found again where nothing has changed that they depend on") {
  const ScratchFolder scratch;
  const auto kept = [&scratch](Names assignments) {
    for (const char* usual : {"train.trainable=head_only", "data.task.valid=4", "data.task.test=4"})
      assignments.insert(assignments.begin(), usual);
    const Run run(assignments);
    features_of(run.spec, run.task, *run.built, scratch.path());
    return std::distance(std::filesystem::directory_iterator(scratch.path() / "features"), {});
  };
  CHECK(kept({}) == 1);
  for (const char* same :
       {"model.dropout=0.3", "model.decoder.dropout.mlp=0.2", "model.head.gain=0.5", "model.head.bias=false",
        "model.weights=random", "model.checkpoint_activations=true", "train.trainable=[output.weight]",
        "train.learning_rate=0.1", "data.task.test=5"}) {
    INFO(same);
    CHECK(kept({same}) == 1);
  }
  Index files = 1;
  for (const char* other :
       {"model.skip=false", "model.head=mean", "model.norm.epsilon=0.1", "seed=2", "precision=f64",
        "data.task.valid=3", "data.task.train=255", "data.task.seed=2", "model.adapters={rank: 2}"}) {
    INFO(other);
    CHECK(kept({other}) == ++files);
  }
  CHECK(kept({"model.adapters={rank: 2, dropout: 0.1}"}) == files);
}

TEST_CASE("features that other code computed are not taken for those of this program") {
  const ScratchFolder scratch;
  const Run run({"train.trainable=head_only"});
  const auto kept = [&run, &scratch] {
    features_of(run.spec, run.task, *run.built, scratch.path());
    return std::distance(std::filesystem::directory_iterator(scratch.path() / "features"), {});
  };
  CHECK(kept() == 1);
  CHECK(kept() == 1);
  CHECK(code_digest().size() == 64);
  const std::string before = program_digest();
  CHECK(with_modules("other") != before);
  const auto module = scratch.path() / "module.so";
  write_durably(module, "a kind of attention");
  note_loaded_module(module);
  CHECK(kept() == 2);
  note_loaded_module(module);
  CHECK(kept() == 2);
  write_durably(module, "the same one, changed");
  note_loaded_module(module);
  CHECK(kept() == 3);
  CHECK(program_digest() != before);
  CHECK(program_digest().size() == 64);
  CHECK_THROWS_AS(note_loaded_module(scratch.path() / "none"), IoError);
}

TEST_CASE(
    "labels are scored by the most likely one; a task of sequences and a pooled head do not go together") {
  const Run run;
  const auto& corpus = run.task.valid;
  const SplitScores scores = score_split(*run.built->model, run.task, "valid", corpus, run.spec.decode, 1);
  REQUIRE(scores.outputs.size() == corpus.examples.size());
  double right = 0;
  for (std::size_t i = 0; i < scores.outputs.size(); ++i)
    for (std::size_t k = 0; k < 5; k += 2) right += scores.outputs[i][k] == corpus.references[i][k] ? 1 : 0;
  CHECK(scores.scores[0].value == Approx(right / static_cast<double>(3 * corpus.examples.size())));
  CHECK(run.trainer->validate()->number("valid_accuracy") == Approx(scores.scores[0].value));
  CHECK_THROWS_AS(Run({"model.head=none"}), ConfigError);
  CHECK_THROWS_AS(Run({"data.task=copy", "model.kind=encoder_decoder"}), ConfigError);
}

TEST_CASE("a body of one of our own runs goes into a model with another input and head") {
  const ScratchFolder scratch;
  Run first;
  first.trainer->step();
  save(first, scratch);
  Run second({"model.from=" + scratch.path().string(),
              "data.task={kind: bit_memory, bits: 4, patch: 2, patterns: 1, "
              "train: 40, valid: 4, test: 4}"});
  CHECK_THROWS_AS(load_starting_weights(second.spec, *second.built),
                  IoError);  // input.weight has another shape
  Run third({"model.from=" + scratch.path().string(), "model.reinit=[input.weight]",
             "data.task={kind: bit_memory, bits: 4, patch: 2, patterns: 1, train: 40, valid: 4, test: 4}"});
  const WeightReport report = load_starting_weights(third.spec, *third.built);
  CHECK(report.text().find("output.weight (the head of this task, of another shape)") != std::string::npos);
  const std::string name = "decoder.layers.1.mlp.up.weight";
  CHECK(third.built->parameters.find(name)->value().to_doubles() ==
        first.built->parameters.find(name)->value().to_doubles());
}

TEST_CASE("adapters that add nothing and never will are refused") {
  const ScratchFolder scratch;
  const std::string adapters = "model.adapters={rank: 2}", from = "model.from=" + scratch.path().string();
  const auto refused = [&adapters](Names assignments) {
    assignments.push_back(adapters);
    return has(refusal<ConfigError>(Run(assignments)), "error: model.adapters: they start at zero");
  };
  CHECK(refused({"train.trainable=head_only"}));
  CHECK(refused({"train.trainable=[head_only, '*.adapter.a']"}));
  CHECK_FALSE(refused({"train.trainable=[head_only, adapters]"}));
  CHECK_FALSE(refused({"train.trainable=[head_only, '*.1.*.adapter.b']"}));
  const Run trained({"train.trainable=[head_only, adapters]", adapters});
  save(trained, scratch);
  CHECK(refused({"train.trainable=head_only", from}));
  trained.trainer->step();
  save(trained, scratch);
  CHECK_FALSE(refused({"train.trainable=head_only", from}));
}

TEST_CASE("without pretrained weights, keys that rearrange them are refused") {
  for (const std::string weights : {"statistics", "permuted"})
    CHECK_THROWS_WITH(Run({"model.weights=" + weights}),
                      containing("are made of pretrained weights, but 'from' names none"));
  CHECK(refusal<ConfigError>(Run({"model.weights=random"})).empty());
  CHECK(
      has(refusal<ConfigError>(Run({"model.reinit=[outpt]"})), "model.reinit: 'outpt' matches no parameter"));
  CHECK(refusal<ConfigError>(Run({"model.reinit=['output.*']"})).empty());
}

TEST_CASE("layers that are left out are counted stack by stack") {
  const ScratchFolder scratch;
  save(SmallRun(kTwoStacks, {}), scratch);
  const auto problems = [&scratch](std::vector<std::string> assignments) {
    assignments.push_back("model.from=" + scratch.path().string());
    return refusal<IoError>(SmallRun(kTwoStacks, assignments));
  };
  CHECK(problems({}).empty());
  CHECK(problems({"model.encoder.layers=1"}).empty());
  CHECK(problems({"model.decoder.layers=1"}).empty());
  // The encoder still has its second layer, so that this MLP, too, belongs to one that the model has.
  CHECK(has(problems({"model.decoder.layers=1", "model.encoder.mlp=false"}),
            "encoder.layers.*.mlp.up.weight (in the file, but no parameter asks for it) x2"));
  SmallRun shallow(kTwoStacks, {"model.encoder.layers=1", "model.from=" + scratch.path().string()});
  CHECK(has(load_starting_weights(shallow.spec, *shallow.built).text(),
            "encoder.layers.1.mlp.up.weight (of layers after the 1 that this model has)"));
}

TEST_CASE("layers that the file does not have are counted stack by stack") {
  const ScratchFolder scratch;
  save(SmallRun(kTwoStacks, {}), scratch);
  const std::string from = scratch.path().string();
  const auto problems = [&from](std::vector<std::string> assignments) {
    assignments.push_back("model.from=" + from);
    return refusal<IoError>(SmallRun(kTwoStacks, assignments));
  };
  const std::string encoder = "\nmodel.encoder.layers is 4, but " + from + " has 2 layers\n",
                    decoder = "\nmodel.decoder.layers is 3, but " + from + " has 2 layers\n";
  const std::string one = problems({"model.encoder.layers=4"});
  CHECK(has(one, "taken over" + encoder));
  CHECK_FALSE(has(one, "model.decoder.layers"));
  const std::string both = problems({"model.encoder.layers=4", "model.decoder.layers=3"});
  CHECK(has(both, encoder));
  CHECK(has(both, decoder));
  CHECK(problems({"model.encoder.layers=4", "model.allow=['encoder.layers.*']"}).empty());
}

TEST_CASE("a target stops a run") {
  EarlyStoppingSpec spec;
  spec.metric = "valid_accuracy";
  spec.target = 0.9;
  BestSoFar best;
  note_score(spec, 0.89, 5, best);
  CHECK_FALSE(should_stop(spec, best));
  note_score(spec, 0.9, 10, best);
  CHECK(should_stop(spec, best));
  spec.metric = "valid_nll";
  spec.target = 0.5;
  CHECK_FALSE(should_stop(spec, best));
}

TEST_CASE("the shape of a task with labels is kept beside its vocabularies") {
  const ScratchFolder scratch;
  const Run run;
  save_task_shape(scratch.path(), run.task);
  const VocabularySizes sizes = load_task_shape(scratch.path());
  CHECK(sizes.vectors == 1);
  CHECK(sizes.answers.labels == 3);
  CHECK(sizes.answers.rows == 3);
  CHECK_THROWS_AS(load_task_shape(scratch.path() / "none"), IoError);
}
