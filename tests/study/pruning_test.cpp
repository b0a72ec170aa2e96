// Heads out by mask, by gate and for real: the same outputs; orders and areas by hand.
#include "study/pruning.h"

#include <cmath>

#include "config/error.h"
#include "config/spec.h"
#include "study/probed.h"
#include "study/prune_model.h"
#include "support/catch.h"

using namespace attnlab;

namespace {

TrainedModel tiny_trained(ModelKind kind, DType type, const std::string& attention = "scaled_dot",
                          const std::function<void(ModelSpec&)>& change = {}) {
  TrainedModel trained;
  trained.spec = std::make_unique<ExperimentSpec>();
  ModelSpec& model = trained.spec->model;
  model.kind = kind;
  model.width = 16;
  model.tie = Tie::none;
  model.positions.max_length = 16;
  set_all_stacks(model, [&attention](StackSpec& stack) {
    stack.layers = 2;
    stack.heads = 4;
    stack.feed_forward = 24;
    stack.attention = Registry<AttentionSpec>::make(attention);
    stack.dropout.set_all(0);
  });
  if (change) change(model);
  trained.source = trained.target = std::make_shared<Letters>();
  if (kind == ModelKind::decoder) trained.source = nullptr;
  trained.built = build_model(*trained.spec, {kV, kV, true}, type, false);
  // No weight is what it was: biases are not zero.
  for (const auto& parameter : trained.built->parameters.all()) {
    if (parameter->buffer()) continue;
    auto values = parameter->value().to_doubles();
    const Random random(9, stream_name(parameter->name()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += 0.1 * random.normal(i);
    parameter->value().copy_from(Tensor::from(parameter->shape(), DType::f64, values));
  }
  return trained;
}

std::vector<double> logits_of(const TrainedModel& trained) {
  ModelInput input;
  const auto rows = Sequences::of_lengths({4, 3});
  if (trained.source) input.source = {{3, 4, 5, 2, 6, 7, 2}, rows};
  input.target = {{1, 5, 4, 3, 1, 7, 6}, rows};
  Tape tape({.training = false});
  return trained.model().logits(tape, input).value().to_doubles();
}

// Logits of the second step of decoding, for two hypotheses.
std::vector<double> second_step_of(const TrainedModel& trained) {
  const Transformer& model = trained.model();
  Tape tape({.training = false});
  DecoderState state = trained.source
                           ? model.start(tape, {{3, 4, 5, 2, 6, 7, 2}, Sequences::of_lengths({4, 3})}, 1)
                           : model.start(2);
  const Sequences one_each = Sequences::equal(2, 1);
  model.step(tape, state, {{1, 1}, one_each});
  return model.step(tape, state, {{5, 7}, one_each}).value().to_doubles();
}

// Shuts the gates of these heads, and removes them for real from what it returns.
TrainedModel without(TrainedModel& trained, const std::vector<std::string>& heads) {
  shut_gates(trained, heads_by_name(attention_places(trained.model()), heads));
  return without_shut_heads(trained);
}

double relative_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0, size = 0;
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::fabs(a[i] - b[i]));
    size = std::max(size, std::fabs(a[i]));
  }
  return most / size;
}

}  // namespace

TEST_CASE("removal for real agrees with shut gates, for every kind of attention and type") {
  for (const auto& kind : Registry<AttentionSpec>::list()) {
    if (kind.name == "none") continue;
    const bool causal = Registry<AttentionSpec>::make(kind.name)->promises().causal;
    for (const ModelKind form : {ModelKind::encoder_decoder, ModelKind::encoder, ModelKind::decoder}) {
      if (!causal && form != ModelKind::encoder) continue;
      for (const DType type : {DType::f64, DType::f32}) {
        CAPTURE(kind.name, static_cast<int>(form), to_string(type));
        TrainedModel trained = tiny_trained(form, type, kind.name);
        const auto places = attention_places(trained.model());
        const auto whole = logits_of(trained);
        // One head of the first place, all heads of the last.
        std::vector<HeadId> removed{{0, 1}};
        for (Index h = 0; h < 4; ++h) removed.push_back({places.size() - 1, h});
        shut_gates(trained, removed);
        const auto masked = logits_of(trained);
        CHECK(relative_distance(masked, whole) > 1e-4);
        const TrainedModel small = without_shut_heads(trained);
        CHECK(small.built->parameters.count(false) < trained.built->parameters.count(false));
        const double bound = type == DType::f64 ? 1e-10 : 1e-5;
        CHECK(relative_distance(masked, logits_of(small)) < bound);
        CHECK(attention_places(small.model()).size() == places.size() - 1);
        if (form != ModelKind::encoder)
          CHECK(relative_distance(second_step_of(trained), second_step_of(small)) < bound);
      }
    }
  }
}

TEST_CASE("heads can be removed for real again, after whole layers of them") {
  TrainedModel trained = tiny_trained(ModelKind::encoder_decoder, DType::f64);
  TrainedModel once = without(trained, {"encoder.layers.0.*", "decoder.layers.1.cross_attention.*"});
  const TrainedModel twice = without(once, {"encoder.layers.1.*.heads.2"});
  shut_gates(trained, heads_by_name(attention_places(trained.model()), {"encoder.layers.1.*.heads.2"}));
  CHECK(relative_distance(logits_of(trained), logits_of(once)) < 1e-10);
  CHECK(relative_distance(logits_of(trained), logits_of(twice)) < 1e-10);
  const ModelSpec& model = twice.spec->model;
  CHECK(model.encoder.layer_heads == std::vector<std::int64_t>{0, 3});
  CHECK(model.decoder.layer_cross_heads == std::vector<std::int64_t>{4, 0});
  CHECK(model.decoder.layer_heads.empty());
}

TEST_CASE("heads are removed for real beside others that share keys and values, but not those") {
  TrainedModel trained =
      tiny_trained(ModelKind::encoder_decoder, DType::f64, "scaled_dot", [](ModelSpec& model) {
        set_all_stacks(model, [](StackSpec& stack) { stack.attention->key_value_heads = 2; });
      });
  const TrainedModel small = without(trained, {"*.cross_attention.heads.[03]"});
  CHECK(small.built->parameters.count(false) < trained.built->parameters.count(false));
  CHECK(relative_distance(logits_of(trained), logits_of(small)) < 1e-10);
  CHECK_THROWS_WITH(without(trained, {"encoder.layers.0.*.heads.1"}), containing("share keys and values"));
}

TEST_CASE("no more heads can be left than there are") {
  CHECK_THROWS_WITH(tiny_trained(ModelKind::encoder, DType::f64, "scaled_dot",
                                 [](ModelSpec& model) {
                                   model.encoder.layer_heads = {4, 5};
                                 }),
                    containing("5 heads cannot be left of 4"));
  const auto read = [](const std::string& keys) {
    ModelSpec model;
    read_spec(Tree::parse(keys), model);
  };
  const std::string why = "more heads left than there are";
  CHECK_THROWS_WITH(read("{layers: 2, heads: 4, layer_heads: [4, 5]}"), containing("'layer_heads': " + why));
  CHECK_THROWS_WITH(read("{layers: 2, heads: 4, cross_attention: {kind: scaled_dot, heads: 2}, "
                         "decoder: {layer_cross_heads: [2, 3]}}"),
                    containing("'decoder.layer_cross_heads': " + why));
  CHECK_NOTHROW(read("{layers: 2, heads: 4, attention: {kind: scaled_dot, heads: 8}, layer_heads: [8, 0]}"));
}

TEST_CASE("a mask is a shut gate, and means stand in where asked") {
  TrainedModel trained = tiny_trained(ModelKind::encoder_decoder, DType::f64);
  const auto places = attention_places(trained.model());
  std::vector<double> masked;
  {
    HeadMask mask(*trained.built->model, places);
    mask.remove({{1, 2}, {4, 0}});
    masked = logits_of(trained);
  }
  {
    ProbeSubject subject = subject_of(trained);
    subject.examples = {{{3, 4, 5, 2}, {1, 5, 4, 3, 2}}, {{6, 7, 2}, {1, 7, 6, 2}}};
    HeadMask mask(*trained.built->model, places, mean_heads(subject, places));
    mask.remove({{1, 2}, {4, 0}});
    CHECK(relative_distance(logits_of(trained), masked) > 1e-6);
  }
  shut_gates(trained, {{1, 2}, {4, 0}});
  CHECK(relative_distance(logits_of(trained), masked) < 1e-12);
}

TEST_CASE("orders of heads") {
  const std::vector<HeadId> heads{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  const auto order = least_first(heads, {0.5, 0.1, 0.2, 0.1});
  CHECK(order == std::vector<HeadId>{{0, 1}, {1, 1}, {1, 0}, {0, 0}});
  CHECK(keeping_one({{0, 1}, {0, 0}, {1, 1}, {1, 0}}) == std::vector<HeadId>{{0, 1}, {1, 1}, {0, 0}, {1, 0}});
  auto shuffled = random_order(heads, 1, 0);
  CHECK(shuffled == random_order(heads, 1, 0));
  std::sort(shuffled.begin(), shuffled.end());
  CHECK(shuffled == heads);
}

TEST_CASE("the mean score over the share removed") {
  CHECK(mean_score({{0, 2, 4}, {1, 1, 0}}) == Approx(0.75));
  CHECK(mean_score({{0}, {3}}) == 3);
}

TEST_CASE("a pruning study: ends meet, numbers are those of the tables") {
  Probed probed(ModelKind::encoder_decoder, [](ModelSpec& spec) {
    set_all_stacks(spec, [](StackSpec& stack) { stack.dropout.set_all(0); });
  });
  const auto probe = make_probe("head_pruning", {"random_orders=3", "fractions=[0, 0.5, 1]", "resamples=20"});
  const ProbeResult result = run_probe(*probe, probed.subject);
  const double whole = result.numbers.number("score");
  CHECK(whole < 0);  // log-likelihood
  std::map<std::string, double> none_left;
  for (const Table& table : result.tables) {
    if (table.name == "single") CHECK(table.rows.size() == 12);
    if (table.name == "best_alone") CHECK(table.rows.size() == 6);
    if (table.name != "curves") continue;
    for (const auto& row : table.rows) {
      const auto& type = std::get<std::string>(row[0]);
      const double share = std::get<double>(row[3]), score = std::get<double>(row[4]);
      if (share == 0) CHECK(score == whole);
      if (share == 1) CHECK(score == none_left.emplace(type, score).first->second);
    }
  }
  CHECK(none_left.size() == 4);
  CHECK(result.numbers.number("pooled.importance.p") > 0);
  CHECK(result.numbers.number("cross.importance.without_100") == none_left.at("cross"));
}

TEST_CASE("in which order shares are listed, and how often, changes no number of a pruning study") {
  Probed probed(ModelKind::decoder);
  const auto numbers_with = [&probed](const std::string& shares) {
    const auto probe = make_probe("head_pruning", {"random_orders=2", "resamples=20", "fractions=" + shares});
    return to_json_line(run_probe(*probe, probed.subject).numbers);
  };
  CHECK(numbers_with("[0.5, 1, 0, 0.5]") == numbers_with("[0, 0.5, 1]"));
}

TEST_CASE("names of heads") {
  const TrainedModel trained = tiny_trained(ModelKind::encoder, DType::f32);
  const auto places = attention_places(trained.model());
  const auto found = heads_by_name(places, {"encoder.layers.1.*.heads.[01]", "encoder.layers.1.*.heads.1"});
  CHECK(names_of(places, found) == std::vector<std::string>{"encoder.layers.1.self_attention.heads.0",
                                                            "encoder.layers.1.self_attention.heads.1"});
  CHECK_THROWS_AS(heads_by_name(places, {"decoder.*"}), ConfigError);
}
