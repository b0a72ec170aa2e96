// Probes: what they measure on models whose answer is known, and that they leave weights alone.
#include <cmath>
#include <map>

#include "config/error.h"
#include "ops/attend.h"
#include "study/attention_places.h"
#include "study/intervention.h"
#include "study/layer_outputs.h"
#include "study/probed.h"
#include "study/residual.h"
#include "support/catch.h"

using namespace attnlab;

TEST_CASE("every probe leaves the weights alone, on every form of the model") {
  struct Form {
    ModelKind kind;
    Pooling pool;
  };
  for (const auto& [kind, pool] :
       {Form{ModelKind::encoder_decoder, Pooling::none}, Form{ModelKind::decoder, Pooling::none},
        Form{ModelKind::encoder, Pooling::none}, Form{ModelKind::decoder, Pooling::last},
        Form{ModelKind::encoder, Pooling::last}, Form{ModelKind::decoder, Pooling::mean},
        Form{ModelKind::encoder, Pooling::cls}}) {
    Probed probed(kind, pooled_by(pool));
    const std::string before = hash_of(probed.tiny.parameters);
    for (const auto& probe : Registry<ProbeSpec>::list()) {
      CAPTURE(probe.name, static_cast<int>(kind), static_cast<int>(pool));
      const auto spec = make_probe(probe.name, {});
      if (!spec->refusal(probed.subject.model.spec()).empty()) continue;
      const ProbeResult result = run_probe(*spec, probed.subject);
      CHECK(hash_of(probed.tiny.parameters) == before);
      CHECK(!result.numbers.fields().empty());
      CHECK(probed.subject.model.observer() == nullptr);
    }
  }
}

TEST_CASE("the stream has the rows that a stack reads and all its layers, pooled or not, of any backbone") {
  for (const ModelKind kind : {ModelKind::decoder, ModelKind::encoder})
    for (const Pooling pool : {Pooling::none, Pooling::last, Pooling::mean})
      for (const Backbone backbone : {Backbone::attention, Backbone::lstm}) {
        CAPTURE(static_cast<int>(kind), static_cast<int>(pool), static_cast<int>(backbone));
        Probed probed(kind, [pool, backbone](ModelSpec& spec) {
          spec.head.pool = pool;
          set_all_stacks(spec, [backbone](StackSpec& stack) { stack.backbone = backbone; });
        });
        const bool reads_target = kind == ModelKind::decoder && pool == Pooling::none;
        std::map<Index, Index> sentences;  // by layer
        for_each_stream(probed.subject, [&](const StreamPlace& at, const RowMatrix& x) {
          const Example& example = probed.subject.examples[static_cast<std::size_t>(at.sentence)];
          CHECK(x.rows == (reads_target ? example.target_rows() : example.source_rows()));
          ++sentences[at.layer];
        });
        CHECK(sentences == std::map<Index, Index>{{0, 6}, {1, 6}, {2, 6}});
      }
}

TEST_CASE("attention maps of a pooled decoder: tokens and rows of what it reads, none of its answers") {
  Probed probed(ModelKind::decoder, pooled_by(Pooling::last));
  const ProbeResult result = run_probe(*make_probe("attention_maps", {}), probed.subject);
  Index read = 0;
  for (std::size_t i = 0; i < probed.subject.examples.size(); ++i) {
    const Index rows = probed.subject.examples[i].source_rows();
    read += rows;
    CHECK(array_of(result, "decoder.1." + std::to_string(i)).shape() == Shape{2, rows, rows});
  }
  REQUIRE(result.tables.at(0).name == "tokens");
  CHECK(std::ssize(result.tables[0].rows) == read);
}

TEST_CASE("the hash of weights sees a single bit") {
  Probed probed(ModelKind::decoder);
  const std::string before = hash_of(probed.tiny.parameters);
  double& weight = probed.tiny.parameters.all()[2]->value().data<double>()[1];
  const double old = weight;
  weight = std::nextafter(weight, 2.0);
  CHECK(hash_of(probed.tiny.parameters) != before);
  weight = old;
  CHECK(hash_of(probed.tiny.parameters) == before);
}

TEST_CASE("an observer may change what goes on, and is gone afterwards") {
  struct Zero final : ModelObserver {
    using ModelObserver::ModelObserver;
    Var look(const std::string& module, std::string_view what, const Var& value) override {
      ++seen;
      if (what != "sublayer" || module != "decoder.layers.1.mlp") return value;
      return value.tape().constant(Tensor::zeros(value.shape(), value.type()));
    }
    int seen = 0;
  };
  Probed probed(ModelKind::decoder);
  const std::vector<Token> before{kBegin, 4, 5};
  const auto plain = probed.tiny.next({}, before);
  {
    Zero zero(*probed.tiny.model);
    const auto changed = probed.tiny.next({}, before);
    CHECK(zero.seen > 0);
    CHECK(changed != plain);
  }
  CHECK(probed.tiny.next({}, before) == plain);
}

TEST_CASE("attention maps: softmax of the observed queries and keys, the future hidden") {
  Probed probed(ModelKind::encoder_decoder);
  Recorder seen(*probed.tiny.model, wants_attention);
  for_each_batch(probed.subject, [&](const ModelInput& input, Index) {
    Tape tape({.training = false});
    probed.tiny.model->hidden(tape, input);
    const auto places = attention_places(*probed.tiny.model);
    REQUIRE(places.size() == 6);
    for (const AttentionPlace& place : places) {
      CAPTURE(place.path());
      const Mask mask = mask_at(place, probed.tiny.model->spec(), input);
      const Tensor map = attention_map(place, seen, mask);
      const AttendOptions options{place.heads(), 1 / std::sqrt(8.0)};
      const Tensor expected =
          attention_weights(seen.at(place.path(), "query"), seen.at(place.path(), "key"), mask, options);
      REQUIRE(map.shape() == expected.shape());
      const auto a = map.to_doubles(), b = expected.to_doubles();
      for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(a[i] == Approx(b[i]).margin(1e-12));
    }
  });
}

TEST_CASE("every kind of attention has a map, or says that it has none") {
  for (const auto& kind : Registry<AttentionSpec>::list()) {
    CAPTURE(kind.name);
    Probed probed(ModelKind::encoder, [&kind](ModelSpec& spec) {
      set_all_stacks(
          spec, [&kind](StackSpec& stack) { stack.attention = Registry<AttentionSpec>::make(kind.name); });
      spec.positions.max_length = 16;
    });
    const auto probe = make_probe("attention_maps", {"sentences=3"});
    if (kind.name == "none") {
      CHECK_THROWS_AS(run_probe(*probe, probed.subject), ConfigError);
      continue;
    }
    const ProbeResult result = run_probe(*probe, probed.subject);
    const auto length = static_cast<double>(probed.subject.examples[0].source_rows());
    const auto map = array_of(result, "encoder.0.0").to_doubles();
    REQUIRE(map.size() == static_cast<std::size_t>(2 * length * length));
    if (kind.name == "uniform")
      for (const double weight : map) REQUIRE(weight == Approx(1 / length));
    const auto visible = array_of(result, "encoder.0.0.visible").to_doubles();
    CHECK(visible[1] == length);
  }
}

TEST_CASE("norms of a matrix and its residual, by hand") {
  const RowMatrix x{2, 2, {1, -2, 3, 4}};
  CHECK(norm_of(x, MatrixNorm::composite) == Approx(std::sqrt(6.0 * 7.0)));
  CHECK(norm_of(x, MatrixNorm::frobenius) == Approx(std::sqrt(30.0)));
  CHECK(mean_row(x) == std::vector<double>{2, 1});
  CHECK(residual(x, {2, 1}).values == std::vector<double>{-1, -3, 1, 3});
  const RowMatrix same{3, 2, {1, 2, 1, 2, 1, 2}};
  CHECK(norm_of(residual(same, composite_centre(same)), MatrixNorm::composite) == 0);
}

TEST_CASE("the centre of the composite norm: close to the best of a fine grid") {
  const Random random(3, stream_name("grid"));
  for (std::uint64_t trial = 0; trial < 5; ++trial) {
    RowMatrix x{5, 2, {}};
    for (std::uint64_t i = 0; i < 10; ++i) x.values.push_back(random.normal(100 * trial + i));
    double best = 1e9;
    for (int a = -100; a <= 100; ++a)
      for (int b = -100; b <= 100; ++b)
        best = std::min(best, norm_of(residual(x, {a * 0.02, b * 0.02}), MatrixNorm::composite));
    const double found = norm_of(residual(x, composite_centre(x)), MatrixNorm::composite);
    CHECK(found <= norm_of(residual(x, mean_row(x)), MatrixNorm::composite));
    CHECK(found < 1.05 * best);
  }
}

TEST_CASE("the mean cosine of rows, by hand; rows of zeros have none") {
  CHECK(mean_cosine({2, 2, {1, 0, 0, 2}}).value() == Approx(0).margin(1e-15));
  CHECK(mean_cosine({3, 2, {1, 0, 0, 1, -3, 0}}).value() == Approx(-1.0 / 3));
  CHECK(mean_cosine({3, 2, {2, 0, 0, 0, 3, 0}}).value() == Approx(1));
  CHECK(!mean_cosine({2, 2, {2, 0, 0, 0}}));
  CHECK(!mean_cosine({2, 2, {0, 0, 0, 0}}));
}

TEST_CASE("token cosine: where a layer gives zeros there is nothing to measure, elsewhere there is") {
  Probed probed(ModelKind::encoder, [](ModelSpec& spec) {
    set_all_stacks(spec, [](StackSpec& stack) {
      stack.skip.set_all(false);
      stack.norm.position = NormPosition::none;
    });
  });
  const Interventions guard(probed.subject, {parse_intervention("encoder.layers.1.mlp=zero")});
  const ProbeResult result = run_probe(*make_probe("token_cosine", {}), probed.subject);
  CHECK(std::isfinite(result.numbers.number("encoder.layer_1")));
  CHECK(std::isnan(result.numbers.number("encoder.layer_2")));
  CHECK(result.notes.size() == 1);
}

TEST_CASE("residual norm: attention alone collapses faster than exponentially, skips hold") {
  const auto deep = [](bool skip) {
    return [skip](ModelSpec& spec) {
      set_all_stacks(spec, [skip](StackSpec& stack) {
        stack.layers = 4;
        stack.mlp.on = false;
        stack.skip.set_all(skip);
        stack.norm.position = NormPosition::post;
      });
      spec.width = 32;
      spec.positions.kind = PositionKind::none;
    };
  };
  Probed bare(ModelKind::encoder, deep(false)), skipped(ModelKind::encoder, deep(true));
  const auto probe = make_probe("residual_norm", {});
  const Record collapse = run_probe(*probe, bare.subject).numbers;
  const Record held = run_probe(*probe, skipped.subject).numbers;
  CHECK(collapse.number("encoder.mean.composite.layer_4") < 1e-3);
  CHECK(held.number("encoder.mean.composite.layer_4") > 0.01);
  for (int l = 0; l <= 4; ++l) {
    const std::string layer = ".layer_" + std::to_string(l);
    const double by_mean = collapse.number("encoder.mean.composite" + layer);
    CHECK(collapse.number("encoder.minimiser.composite" + layer) <= by_mean * (1 + 1e-9));
    CHECK(by_mean <= 2);
  }
}

TEST_CASE("residual norm: what lies in the noise is known") {
  Probed probed(ModelKind::encoder);
  const ProbeResult result = run_probe(*make_probe("residual_norm", {}), probed.subject);
  for (const double noise : array_of(result, "encoder.mean.composite.noise").to_doubles()) {
    CHECK(noise > 1e-17);
    CHECK(noise < 1e-12);
  }
}

TEST_CASE("probes with wrong names, options or models are refused") {
  CHECK_THROWS_AS(make_probe("attention_map", {}), ConfigError);
  CHECK_THROWS_AS(make_probe("residual_norm", {"lo=1"}), ConfigError);
  Probed probed(ModelKind::encoder);
  probed.subject.examples.clear();
  CHECK_THROWS_AS(run_probe(*make_probe("residual_norm", {}), probed.subject), ConfigError);
}
