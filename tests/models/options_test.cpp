// The options that published models need, one by one and together: gradients of the whole model in f64, and
// token by token what the model says at once.
#include <cmath>
#include <map>

#include "config/error.h"
#include "config/spec.h"
#include "core/gradient_check.h"
#include "models/transformer.h"
#include "nn/mlp.h"
#include "nn/sublayer.h"
#include "support/catch.h"
#include "support/token_rows.h"

using namespace attnlab;

namespace {

using Change = std::function<void(ModelSpec&)>;

struct Tiny {
  Tiny(ModelKind kind, const Change& change, const VocabularySizes& sizes = {11, 11, true}) {
    ModelSpec spec;
    spec.kind = kind;
    spec.width = 16;
    spec.stack.layers = 2;
    spec.stack.heads = 4;
    spec.stack.feed_forward = 12;
    spec.stack.dropout.set_all(0);
    spec.tie = Tie::none;
    change(spec);
    spec.encoder = spec.decoder = spec.stack;
    model.emplace(parameters, spec, sizes);
    parameters.finalise(DType::f64, 3, [](const Parameter&) { return true; });
    for (const auto& parameter : parameters.all()) {  // no zero biases: their places would not show
      const Random random(7, stream_name(parameter->name()));
      std::vector<double> values = parameter->value().to_doubles();
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += 0.2 * random.normal(i);
      parameter->value().copy_from(Tensor::from(parameter->shape(), DType::f64, values));
    }
  }
  double worst_gradient(const ModelInput& input) {
    const GradientReport report =
        check_gradients({[this, &input](Tape& tape, const auto&) { return model->logits(tape, input); },
                         {},
                         &parameters,
                         true,
                         1e-5,
                         12});
    INFO("worst at " << report.where);
    return report.worst;
  }
  ParameterSet parameters;
  std::optional<Transformer> model;
};

const std::vector<std::vector<std::int32_t>> kSentences{{1, 5, 3, 9, 4}, {1, 2}};

void llama(ModelSpec& spec) {
  spec.stack.norm.kind = NormKind::rms_norm;
  spec.stack.mlp.activation = Activation::silu;
  spec.stack.mlp.gated = true;
  spec.stack.biases.set_all(false);
  spec.stack.attention = Registry<AttentionSpec>::make("scaled_dot");
  spec.stack.attention->key_value_heads = 2;
  spec.positions.kind = PositionKind::rotary;
}
void bert(ModelSpec& spec) {
  spec.stack.norm.position = NormPosition::post;
  spec.stack.mlp.activation = Activation::gelu;
  spec.positions.kind = PositionKind::learned;
  spec.token_types = 2;
  spec.embedding_norm = true;
  spec.embedding_scale = EmbeddingScale::one;
  spec.output_bias = spec.output_transform = true;
}

void adapters(ModelSpec& spec) {
  spec.adapters.rank = 2;
  spec.adapters.alpha = 3;
  spec.adapters.dropout = 0.2;
  spec.adapters.targets = {"*"};
}

struct Option {
  const char* name;
  Change change;
};
const std::vector<Option> kOptions{
    {"rms norm", [](ModelSpec& spec) { spec.stack.norm.kind = NormKind::rms_norm; }},
    {"gated MLP",
     [](ModelSpec& spec) {
       spec.stack.mlp.gated = true;
       spec.stack.mlp.activation = Activation::silu;
     }},
    {"rotary halves", [](ModelSpec& spec) { spec.positions.kind = PositionKind::rotary; }},
    {"rotary neighbours",
     [](ModelSpec& spec) {
       spec.positions.kind = PositionKind::rotary;
       spec.positions.rotary_pairs = RotaryPairs::neighbours;
       spec.positions.rotary_base = 100;
     }},
    {"one key head for all", [](ModelSpec& spec) { spec.stack.attention->key_value_heads = 1; }},
    {"shared query and key, rotary",
     [](ModelSpec& spec) {
       spec.stack.attention = Registry<AttentionSpec>::make("shared_query_key");
       spec.positions.kind = PositionKind::rotary;
     }},
    {"linear attention, shared keys",
     [](ModelSpec& spec) {
       spec.stack.attention = Registry<AttentionSpec>::make("linear");
       spec.stack.attention->key_value_heads = 2;
     }},
    {"no biases in attention", [](ModelSpec& spec) { spec.stack.biases.attention = false; }},
    {"no bias out of attention", [](ModelSpec& spec) { spec.stack.biases.attention_output = false; }},
    {"embedding norm", [](ModelSpec& spec) { spec.embedding_norm = true; }},
    {"token types", [](ModelSpec& spec) { spec.token_types = 3; }},
    {"output transform", [](ModelSpec& spec) { spec.output_transform = true; }},
    {"more rows than the tokenizer", [](ModelSpec& spec) { spec.vocabulary = 13; }},
    {"adapters everywhere", adapters},
    {"a long short-term memory", [](ModelSpec& spec) { spec.stack.backbone = Backbone::lstm; }},
    {"a long short-term memory alone, with adapters",
     [](ModelSpec& spec) {
       spec.stack.backbone = Backbone::lstm;
       spec.stack.skip.set_all(false);
       spec.stack.norm.position = NormPosition::none;
       spec.stack.mlp.on = false;
       adapters(spec);
       spec.adapters.targets = {"*.lstm.input"};
     }},
    {"adapters in a gated MLP",
     [](ModelSpec& spec) {
       llama(spec);
       adapters(spec);
       spec.adapters.targets = {"*.mlp.*"};
     }},
    {"as in Llama", llama},
    {"as in BERT", bert},
};

// Shares of the numbers that are kept inside an MLP, and there and again on what it adds, each with a rate of
// one half: every number of all ones goes through its layer alone.
struct KeptShares {
  KeptShares(Activation activation, bool gated) {
    const Index D = 32, rows = 64;
    const InitSpec init;
    ParameterSet parameters;
    const Scope scope{parameters, init, "decoder.layers.0.mlp"};
    SublayerPlan around;
    around.skip = false;
    around.dropout = 0.5;
    around.norm.position = NormPosition::none;
    const Sublayer sublayer(scope, around, D);
    const Mlp mlp(scope, {D, D, activation, 0.5, true, gated});
    parameters.finalise(DType::f64, 3, [](const Parameter&) { return true; });
    for (const auto& parameter : parameters.all())
      parameter->value().fill(parameter->shape().rank() == 1 ? 1 : 0);
    parameters.find("decoder.layers.0.mlp.down.bias")->value().fill(0);
    std::vector<double> identity(static_cast<std::size_t>(D * D));
    for (Index i = 0; i < D; ++i) identity[static_cast<std::size_t>(i * D + i)] = 1;
    parameters.find("decoder.layers.0.mlp.down.weight")
        ->value()
        .copy_from(Tensor::from({D, D}, DType::f64, identity));
    Tape tape({.seed = 5, .step = 1});
    const Var x = tape.constant(Tensor::filled({rows, D}, DType::f64, 1));
    const auto within = mlp(x, 0).value().to_doubles();
    const auto after =
        sublayer.around(x, 0, [&mlp](const Var& in) { return mlp(in, 0); }).value().to_doubles();
    const double one = 1 / static_cast<double>(within.size());
    for (std::size_t i = 0; i < within.size(); ++i) {
      inside += within[i] != 0 ? one : 0;
      both += after[i] != 0 ? one : 0;
    }
  }
  double inside = 0, both = 0;
};

std::string refusal(const std::string& keys) {
  try {
    ModelSpec spec;
    read_spec(Tree::parse(keys), spec);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("inside an MLP and on what it adds, dropout drops other numbers") {
  for (const auto& [activation, gated] :
       {std::pair{Activation::relu, false}, {Activation::gelu, false}, {Activation::silu, true}}) {
    INFO("activation " << static_cast<int>(activation) << (gated ? ", gated" : ""));
    const KeptShares kept(activation, gated);
    CHECK(kept.inside == Approx(0.5).margin(0.05));
    CHECK(kept.both == Approx(0.25).margin(0.05));
  }
}

TEST_CASE("scaled by depth, only the maps into the residual stream start smaller") {
  const auto start_of = [](InitRule rule, ModelKind kind) {
    ParameterSet parameters;
    ModelSpec spec;
    spec.kind = kind;
    spec.width = 16;
    spec.stack.layers = 4;
    spec.stack.init.rule = rule;
    spec.encoder = spec.decoder = spec.stack;
    const Transformer model(parameters, spec, {11, 11, true});
    parameters.finalise(DType::f64, 3, [](const Parameter&) { return true; });
    std::map<std::string, double> firsts;
    for (const auto& parameter : parameters.all())
      firsts[parameter->name()] = parameter->value().to_doubles()[0];
    return firsts;
  };
  for (const ModelKind kind : {ModelKind::decoder, ModelKind::encoder_decoder}) {
    const auto plain = start_of(InitRule::normal, kind), scaled = start_of(InitRule::normal_by_depth, kind);
    for (const auto& [name, number] : plain) {
      INFO(name);
      const bool into = name.ends_with("attention.output.weight") || name.ends_with("mlp.down.weight");
      const bool crossed = kind == ModelKind::encoder_decoder && name.starts_with("decoder");
      CHECK(scaled.at(name) == Approx(into ? number / std::sqrt(crossed ? 12.0 : 8.0) : number));
    }
  }
}

TEST_CASE("a whole decoder with each option has the gradients of central differences") {
  for (const Option& option : kOptions) {
    INFO(option.name);
    CHECK(Tiny(ModelKind::decoder, option.change).worst_gradient({{}, rows_of(kSentences), {}}) < 5e-6);
  }
}

TEST_CASE("token by token, with each option, a decoder says what it says at once") {
  for (const Option& option : kOptions) {
    INFO(option.name);
    const Tiny tiny(ModelKind::decoder, option.change);
    const auto V = static_cast<std::size_t>(tiny.model->output_size());
    Tape tape({.training = false});
    DecoderState state = tiny.model->start(1);
    const auto whole = tiny.model->logits(tape, {{}, rows_of({kSentences[0]}), {}}).value().to_doubles();
    for (std::size_t t = 0; t < kSentences[0].size(); ++t) {
      if (t == 1) continue;  // tokens 1 and 2 come together
      const auto first = kSentences[0].begin() + static_cast<std::ptrdiff_t>(t == 2 ? 1 : t);
      const auto last = kSentences[0].begin() + static_cast<std::ptrdiff_t>(t + 1);
      const auto logits = tiny.model->step(tape, state, rows_of({{first, last}})).value().to_doubles();
      for (std::size_t v = 0; v < V; ++v)
        CHECK(logits[v] == Approx(whole[t * V + v]).epsilon(1e-9).margin(1e-9));
    }
  }
}

TEST_CASE("options count the weights that they should") {
  const auto count = [](const Change& change) {
    return Tiny(ModelKind::decoder, change).parameters.count(true);
  };
  const Index plain = count([](ModelSpec&) {});
  CHECK(count([](ModelSpec& spec) { spec.stack.norm.kind = NormKind::rms_norm; }) == plain - 5 * 16);
  CHECK(count([](ModelSpec& spec) { spec.stack.mlp.gated = true; }) == plain + 2 * (12 * 16 + 12));
  CHECK(count([](ModelSpec& spec) { spec.stack.attention->key_value_heads = 1; }) ==
        plain - 2 * 2 * 12 * (16 + 1));
  CHECK(count([](ModelSpec& spec) { spec.stack.biases.attention = false; }) == plain - 2 * 3 * 16);
  CHECK(count([](ModelSpec& spec) { spec.stack.biases.mlp = false; }) == plain - 2 * (12 + 16));
  CHECK(count([](ModelSpec& spec) { spec.token_types = 3; }) == plain + 3 * 16);
}

TEST_CASE("token types are added; without them all are of type 0") {
  const Tiny tiny(ModelKind::encoder, bert);
  Tape tape({.training = false});
  TokenRows read = rows_of(kSentences);
  const auto untyped = tiny.model->logits(tape, {read, {}, {}}).value().to_doubles();
  read.types = {0, 0, 0, 0, 0, 0, 0};
  CHECK(tiny.model->logits(tape, {read, {}, {}}).value().to_doubles() == untyped);
  read.types = {0, 0, 0, 0, 0, 0, 1};
  const auto typed = tiny.model->logits(tape, {read, {}, {}}).value().to_doubles();
  CHECK(std::vector(typed.begin(), typed.begin() + 5 * 11) ==
        std::vector(untyped.begin(), untyped.begin() + 5 * 11));
  CHECK(typed.back() != Approx(untyped.back()));
  read.types = {0, 0, 0, 0, 0, 0, 2};
  CHECK_THROWS_AS(tiny.model->logits(tape, {read, {}, {}}), ShapeError);
}

TEST_CASE("a pooled head takes its rows of each example, from ids or vectors") {
  const VocabularySizes ids{11, 3, false, 0, {4, 2}};
  for (const ModelKind kind : {ModelKind::decoder, ModelKind::encoder})
    for (const Pooling pool : {Pooling::last, Pooling::cls, Pooling::mean}) {
      if (kind == ModelKind::decoder && pool == Pooling::cls) continue;  // the config refuses it
      Tiny tiny(
          kind, [pool](ModelSpec& spec) { spec.head.pool = pool; }, ids);
      const ModelInput input{rows_of(kSentences), {}, {}};
      Tape tape({.training = false});
      const Var hidden = tiny.model->hidden(tape, input), logits = tiny.model->logits(tape, input);
      CHECK(hidden.shape() == Shape{pool == Pooling::last ? 4 : 2, 16});
      CHECK(logits.shape() == Shape{2 * 4, 3});
      CHECK(tiny.parameters.find("output.weight")->shape() == Shape{pool == Pooling::last ? 6 : 12, 16});
      CHECK(tiny.worst_gradient(input) < 5e-6);
    }
  VocabularySizes vectors{0, 3, false, 5, {1, 1}};
  Tiny tiny(
      ModelKind::decoder, [](ModelSpec& spec) { spec.head.pool = Pooling::last; }, vectors);
  TokenRows read;
  read.rows = Sequences::of_lengths({3, 2});
  std::vector<double> numbers(25);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = Random(3, 1).normal(i);
  read.vectors = Tensor::from({5, 5}, DType::f64, numbers);
  CHECK(tiny.worst_gradient({read, {}, {}}) < 5e-6);
  Tape tape({.training = false});
  CHECK_THROWS_AS(tiny.model->logits(tape, {rows_of(kSentences), {}, {}}), ShapeError);
  CHECK_THROWS_AS(Tiny(
                      ModelKind::decoder, [](ModelSpec&) {}, vectors),
                  ConfigError);
}

TEST_CASE("options that do not fit are refused by the config's own words") {
  const auto refused = [](const Change& change) {
    CHECK_THROWS_AS(Tiny(ModelKind::decoder, change), ConfigError);
  };
  refused([](ModelSpec& spec) { spec.stack.attention->key_value_heads = 3; });
  refused([](ModelSpec& spec) {
    spec.stack.attention = Registry<AttentionSpec>::make("shared_query_key");
    spec.stack.attention->key_value_heads = 2;
  });
  refused([](ModelSpec& spec) {
    spec.positions.kind = PositionKind::rotary;
    spec.stack.attention->key_width = 3;
  });
  refused([](ModelSpec& spec) { spec.vocabulary = 10; });
  CHECK_THROWS_AS(Tiny(ModelKind::decoder, [](ModelSpec& spec) { spec.head.pool = Pooling::last; },
                       {11, 3, false, 0, {3, 2}}),
                  ConfigError);
}

TEST_CASE("the first row stands for an example only where it sees the others") {
  const std::string why = "cls is the first row, which sees only itself here";
  for (const std::string keys :
       {"kind: decoder", "kind: decoder, backbone: lstm", "kind: encoder, backbone: lstm",
        "kind: encoder, encoder: {backbone: lstm}"}) {
    INFO(keys);
    CHECK(refusal("{" + keys + ", head: cls}").find(why) != std::string::npos);
    CHECK(refusal("{" + keys + ", head: last}").empty());
    CHECK(refusal("{" + keys + ", head: mean}").empty());
  }
  CHECK(refusal("{kind: encoder, head: cls}").empty());
  CHECK(refusal("{kind: encoder, head: cls, decoder: {backbone: lstm}}").empty());
}
