// Published models against Hugging Face transformers; values made by tests/golden/published.py.
#include <cmath>
#include <filesystem>

#include "config/error.h"
#include "config/spec.h"
#include "study/activations.h"
#include "support/catch.h"
#include "support/golden.h"
#include "train/build_model.h"
#include "train/published_departures.h"
#include "train/published_model.h"
#include "train/starting_weights.h"

using namespace attnlab;

namespace {

std::string folder_of(const std::string& name) {
  return std::string(ATTNLAB_SOURCE_DIR) + "/tests/golden/published/" + name;
}

struct Loaded {
  explicit Loaded(const std::string& from, const std::vector<std::string>& assignments = {},
                  DType type = DType::f32) {
    Tree tree = Tree::load({}, {"model.from=" + from});
    for (const auto& assignment : assignments) tree.set(assignment);
    read_spec(tree, spec);
    built = build_model(spec, {41, 41, true}, type, false);
    report = load_starting_weights(spec, *built);
  }
  ExperimentSpec spec;
  std::unique_ptr<BuiltModel> built;
  WeightReport report;
};

ModelInput input_of(const nlohmann::json& sentences, ModelKind kind) {
  TokenRows read;
  std::vector<Index> lengths;
  for (const auto& sentence : sentences) {
    for (const auto& id : sentence["ids"]) read.ids.push_back(id);
    if (kind == ModelKind::encoder)
      for (const auto& type : sentence["types"]) read.types.push_back(type);
    lengths.push_back(static_cast<Index>(sentence["ids"].size()));
  }
  read.rows = Sequences::of_lengths(lengths);
  return kind == ModelKind::encoder ? ModelInput{read, {}, {}} : ModelInput{{}, read, {}};
}

// Largest difference relative to the largest expected number of the row.
double distance(const std::vector<double>& got, const nlohmann::json& sentences, const char* what) {
  std::size_t at = 0;
  double worst = 0;
  for (const auto& sentence : sentences)
    for (const auto& row : sentence[what]) {
      double most = 0, difference = 0;
      for (const double expected : row) {
        most = std::max(most, std::abs(expected));
        difference = std::max(difference, std::abs(expected - got.at(at++)));
      }
      worst = std::max(worst, difference / most);
    }
  CHECK(at == got.size());
  return worst;
}

}  // namespace

TEST_CASE("hidden states and logits of GPT-2, BERT and Llama equal those of transformers", "[golden]") {
  for (const std::string name : {"gpt2", "bert", "llama"}) {
    for (const DType type : {DType::f32, DType::f64}) {
      INFO(name << " in " << to_string(type));
      const auto sentences = golden("published/" + name + "/reference.json")["sentences"];
      const Loaded loaded(folder_of(name), {}, type);
      const Transformer& model = *loaded.built->model;
      Tape tape({.training = false});
      const ModelInput input = input_of(sentences, model.spec().kind);
      Recorder recorder(*loaded.built->model,
                        [](const auto&, std::string_view what) { return what == "input"; });
      CHECK(distance(model.hidden(tape, input).value().to_doubles(), sentences, "last_hidden") < 1e-5);
      const std::string stack = model.spec().kind == ModelKind::encoder ? "encoder" : "decoder";
      CHECK(distance(recorder.at(stack, "input").to_doubles(), sentences, "first_hidden") < 1e-5);
      CHECK(distance(model.logits(tape, input).value().to_doubles(), sentences, "logits") < 1e-5);
      CHECK(loaded.report.unexplained.empty());
    }
  }
}

TEST_CASE("the report accounts for every tensor") {
  const Loaded gpt2(folder_of("gpt2"));
  CHECK(gpt2.report.used.size() == 2 + 3 * 12 + 2);
  CHECK(gpt2.report.transposed.size() == 3 * 4);
  CHECK(gpt2.report.text().find("transposed  12: transformer.h.*.attn.c_attn.weight x3") !=
        std::string::npos);
  CHECK(gpt2.spec.model.stack.heads == 3);
  CHECK(gpt2.spec.model.tie == Tie::output);
  const Loaded llama(folder_of("llama"));
  CHECK(llama.report.used.size() == 1 + 2 * 9 + 2);
  CHECK(llama.spec.model.stack.attention->key_value_heads == 2);
  CHECK(llama.built->parameters.count(false) == llama.report.numbers + 2 * 6);  // gates of the heads
}

TEST_CASE("fewer layers, shorter tables, other heads: what is left out is said") {
  const Loaded first(folder_of("gpt2"), {"model.layers=2", "model.positions.max_length=8"});
  CHECK(first.report.unused.size() == 12);
  CHECK(first.report.unused.front().note == "of layers after the 2 that this model has");
  REQUIRE(first.report.cut.size() == 1);
  CHECK(first.report.cut.front().note == "8 of 16 rows");
  const Loaded classifier(folder_of("bert"), {"model.head=cls", "model.output_transform=false"});
  CHECK(classifier.report.fresh.size() == 2);
  CHECK(classifier.report.text().find("output.weight (the head of this task)") != std::string::npos);
  CHECK(classifier.report.text().find("cls.predictions.transform.dense.weight (a head for other tasks)") !=
        std::string::npos);
}

TEST_CASE("a model that does not fit is refused, by tensor, with a way out") {
  const auto error_of = [](const std::string& name,
                           const std::vector<std::string>& assignments) -> std::string {
    try {
      Loaded(folder_of(name), assignments);
    } catch (const IoError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(error_of("gpt2", {"model.vocabulary=50"})
            .find("'transformer.wte.weight' has the shape [41, 24], but this "
                  "model's target_embedding.weight wants [50, 24]") != std::string::npos);
  CHECK(error_of("llama", {"model.mlp.gated=false"})
            .find("layers.*.mlp.gate_proj.weight (in the file, but no "
                  "parameter asks for it) x2") != std::string::npos);
  CHECK(error_of("llama", {"model.biases.mlp=true"})
            .find("decoder.layers.*.mlp.up.bias (a parameter that the file "
                  "has nothing for) x2") != std::string::npos);
  CHECK(error_of("llama", {"model.tie=output"})
            .find("'lm_head.weight' differs from 'model.embed_tokens.weight'") != std::string::npos);
  CHECK(error_of("llama", {"model.mlp.gated=false", "model.allow=['*gate_proj*']"}).empty());
  CHECK(error_of("llama", {"model.biases.mlp=true", "model.reinit=['*.mlp.*.bias']"}).empty());
  CHECK(error_of("gpt2", {"model.vocabulary=50", "model.reinit=[target_embedding.weight]"}).empty());
}

TEST_CASE("of many things that do not fit, the reason comes first, then a handful and their number") {
  const auto error_of = [](const std::string& name, const std::string& assignment) -> std::string {
    try {
      Loaded(folder_of(name), {assignment});
    } catch (const IoError& error) {
      return error.what();
    }
    return "";
  };
  const auto count = [](const std::string& text, const std::string& part) {
    int found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  const std::string deep = error_of("bert", "model.layers=5");
  CHECK(deep.find("taken over\nmodel.layers is 5, but " + folder_of("bert") +
                  " has 2 layers\nencoder.layers.") != std::string::npos);
  CHECK(count(deep, "(a parameter that the file has nothing for) x3") == 6);
  CHECK(deep.find("x3, and 10 more\nmodel.allow") != std::string::npos);
  const std::string wide = error_of("gpt2", "model.feed_forward=50");
  CHECK(count(wide, "has the shape") == 6);
  CHECK(wide.ends_with("\nand 3 more tensors that do not fit"));
}

TEST_CASE("what contradicts the published model without changing a shape is said") {
  using Sentences = std::vector<std::string>;
  const auto departures = [](const std::string& name, const std::vector<std::string>& assignments,
                             Index words) {
    Tree tree = Tree::load({}, {"model.from=" + folder_of(name)});
    for (const auto& assignment : assignments) tree.set(assignment);
    const auto spec = std::make_unique<ExperimentSpec>();
    read_spec(tree, *spec);
    return published_departures(*spec, {words, words, true});
  };
  CHECK(departures("bert", {}, 41) == Sentences{});
  CHECK(departures("gpt2", {"model.layers=2", "model.dropout=0.3"}, 41) == Sentences{});
  CHECK(departures("gpt2", {"model.heads=6"}, 41) ==
        Sentences{"model.heads: 6, but " + folder_of("gpt2") + " was trained with 3"});
  CHECK(departures("gpt2", {"model.mlp.activation=relu"}, 41)
            .at(0)
            .starts_with("model.mlp.activation: relu, but "));
  // Ids of another vocabulary, unless the table is drawn anew.
  for (const std::string name : {"bert", "gpt2"}) {
    const Sentences other = departures(name, {}, 20);
    REQUIRE(other.size() == 1);
    CHECK(other[0].find("a vocabulary of 20 words, but the token table of") != std::string::npos);
    CHECK(other[0].find("41 rows") != std::string::npos);
    CHECK(departures(name, {"model.reinit=['*_embedding.weight']"}, 20) == Sentences{});
    CHECK(departures(name, {"model.reinit=['*_embedding.weight']", "model.vocabulary=null"}, 20) ==
          Sentences{});
  }
}

TEST_CASE("a configuration that lacks keys says that none came from where the weights are") {
  const auto error_of = [](const std::string& from) -> std::string {
    try {
      Loaded(from, {"model.head=cls"});
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(error_of("no/such/model").find("'model.from': there is no 'no/such/model'") != std::string::npos);
  CHECK(error_of(std::string(ATTNLAB_SOURCE_DIR) + "/tests").find("is no published model") !=
        std::string::npos);
  CHECK(error_of("prepared:body").find("model.from") == std::string::npos);
}

TEST_CASE("only what the file does not set is drawn, and it is drawn as always") {
  for (const char* weights : {"pretrained", "random", "statistics", "permuted"}) {
    INFO(weights);
    const std::vector<std::string> assignments{"model.weights=" + std::string(weights), "model.head=cls",
                                               "model.output_transform=false", "model.adapters={rank: 2}",
                                               "model.reinit=['*.mlp.up.weight']"};
    const Loaded drawn(folder_of("bert"), assignments);
    const auto later = build_model(drawn.spec, {41, 41, true}, DType::f32, false, InitialValues::zero);
    load_starting_weights(drawn.spec, *later);
    for (const auto& parameter : later->parameters.all()) {
      INFO(parameter->name());
      CHECK(parameter->value().to_doubles() ==
            drawn.built->parameters.find(parameter->name())->value().to_doubles());
    }
  }
}

TEST_CASE("model.reinit speaks of parameters, also of one among several in a tensor") {
  const auto numbers = [](const Loaded& loaded, const std::string& map) {
    const std::string name = "decoder.layers.1.self_attention." + map + ".weight";
    return loaded.built->parameters.find(name)->value().to_doubles();
  };
  const Loaded drawn(folder_of("gpt2"), {"model.weights=random"});
  for (const char* weights : {"pretrained", "random", "statistics", "permuted"}) {
    INFO(weights);
    const std::string as = "model.weights=" + std::string(weights);
    const Loaded whole(folder_of("gpt2"), {as});
    const Loaded part(folder_of("gpt2"), {as, "model.reinit=['*.query.weight']"});
    CHECK(numbers(part, "query") == numbers(drawn, "query"));
    CHECK(numbers(part, "key") == numbers(whole, "key"));
    CHECK(numbers(part, "value") == numbers(whole, "value"));
    CHECK(part.report.numbers == whole.report.numbers - 3 * 24 * 24);
    CHECK(part.report.used.size() == whole.report.used.size());
    REQUIRE(part.report.fresh.size() == 3);
    CHECK(part.report.fresh.front().name == "decoder.layers.0.self_attention.query.weight");
    CHECK(part.report.fresh.front().note == "reinit");
  }
  const Loaded last(folder_of("gpt2"), {"model.reinit=[last_mlp]"});
  REQUIRE(last.report.fresh.size() == 4);
  for (const auto& item : last.report.fresh) CHECK(item.name.starts_with("decoder.layers.2.mlp."));
  CHECK(last.report.unused.size() == 4);
}

TEST_CASE("a pattern of model.reinit that speaks of nothing is an error") {
  const auto error_of = [](const std::vector<std::string>& assignments) -> std::string {
    try {
      Loaded(folder_of("gpt2"), assignments);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(error_of({"model.reinit=['*.qeury.weight', mlp]"})
            .find("error: model.reinit: '*.qeury.weight' matches no parameter; names are such as") == 0);
  // The file has a third layer, this model does not.
  CHECK(error_of({"model.layers=2", "model.reinit=['decoder.layers.2.*']"}).empty());
}

TEST_CASE("model.weights: shapes alone, statistics, or permuted numbers") {
  const Loaded pretrained(folder_of("gpt2"));
  const std::string name = "decoder.layers.1.mlp.up.weight";
  const auto numbers = [&name](const Loaded& loaded) {
    return loaded.built->parameters.find(name)->value().to_doubles();
  };
  const auto moments = [](const std::vector<double>& x) {
    double sum = 0, squares = 0;
    for (const double v : x) sum += v, squares += v * v;
    const double n = static_cast<double>(x.size());
    return std::pair(sum / n, std::sqrt(squares / n - sum / n * (sum / n)));
  };
  const auto given = numbers(pretrained);
  const Loaded permuted(folder_of("gpt2"), {"model.weights=permuted"});
  auto a = given, b = numbers(permuted);
  CHECK(a != b);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  CHECK(a == b);
  const Loaded statistics(folder_of("gpt2"), {"model.weights=statistics"});
  const auto [mean, deviation] = moments(given);
  const auto [other_mean, other_deviation] = moments(numbers(statistics));
  CHECK(std::abs(mean - other_mean) < 0.03);
  CHECK(other_deviation == Approx(deviation).epsilon(0.05));
  const Loaded random(folder_of("gpt2"), {"model.weights=random"});
  CHECK(moments(numbers(random)).second == Approx(0.02).epsilon(0.05));  // initializer_range
  CHECK(numbers(Loaded(folder_of("gpt2"), {"model.weights=random", "seed=2"})) != numbers(random));
}
