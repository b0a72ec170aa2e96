// Interventions: what stands in the place of heads and sublayers, and what else stays.
#include "study/intervention.h"

#include <algorithm>
#include <cmath>

#include "config/error.h"
#include "config/spec.h"
#include "study/layer_outputs.h"
#include "study/probed.h"
#include "study/pruning.h"
#include "support/catch.h"

using namespace attnlab;

namespace {

std::vector<double> output_of(Probed& probed) {
  std::vector<double> all;
  for_each_batch(probed.subject, [&](const ModelInput& input, Index) {
    Tape tape({.training = false});
    const auto logits = probed.tiny.model->logits(tape, input).value().to_doubles();
    all.insert(all.end(), logits.begin(), logits.end());
  });
  return all;
}

std::vector<double> output_under(Probed& probed, const std::vector<std::string>& rules) {
  std::vector<Intervention> parsed;
  for (const auto& rule : rules) parsed.push_back(parse_intervention(rule));
  const Interventions guard(probed.subject, parsed);
  return output_of(probed);
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::fabs(a[i] - b[i]));
  return most;
}

}  // namespace

TEST_CASE("a head set to zero is a head whose gate is shut") {
  Probed probed(ModelKind::encoder_decoder);
  const auto plain = output_of(probed);
  const auto cut = output_under(probed, {"decoder.layers.1.cross_attention.heads.1=zero"});
  CHECK(distance(cut, plain) > 1e-6);
  probed.tiny.model->decoder()->layers()[1].cross_attention()->gates()->value().data<double>()[1] = 0;
  CHECK(distance(output_of(probed), cut) < 1e-12);
}

TEST_CASE("uniform attention is what the control kind computes") {
  Probed probed(ModelKind::encoder), uniform(ModelKind::encoder, [](ModelSpec&spec) {
    set_all_stacks(spec,
                   [](StackSpec& stack) { stack.attention = Registry<AttentionSpec>::make("uniform"); });
  });
  for (const auto& parameter : uniform.tiny.parameters.all())
    parameter->value().copy_from(probed.tiny.parameters.find(parameter->name())->value());
  CHECK(distance(output_under(probed, {"*.self_attention=uniform"}), output_of(uniform)) < 1e-12);
  CHECK(distance(output_under(probed, {"*.heads.*=uniform"}), output_of(uniform)) < 1e-12);
  Probed linear(ModelKind::encoder, [](ModelSpec& spec) {
    set_all_stacks(spec, [](StackSpec& stack) { stack.attention = Registry<AttentionSpec>::make("linear"); });
  });
  CHECK_THROWS_AS(output_under(linear, {"*.self_attention=uniform"}), ConfigError);
  Probed pooled(ModelKind::decoder, pooled_by(Pooling::last));
  CHECK(distance(output_under(pooled, {"*.self_attention=uniform"}), output_of(pooled)) > 1e-6);
}

TEST_CASE("uniform attention in a window has all the entropy that the window leaves it") {
  Probed probed(ModelKind::encoder, [](ModelSpec& spec) {
    set_all_stacks(spec, [](StackSpec& stack) {
      stack.attention = Registry<AttentionSpec>::make("window");
      read_fields(Tree::load({}, {"width=1"}), [&stack](Fields& f) { stack.attention->own_fields(f); });
    });
  });
  const Interventions guard(probed.subject, {parse_intervention("*.self_attention=uniform")});
  const Record numbers = run_probe(*make_probe("attention_entropy", {}), probed.subject).numbers;
  CHECK(numbers.number("encoder.layer_0.relative_entropy") == Approx(1));
  CHECK(numbers.number("encoder.layer_1.relative_entropy") == Approx(1));
  const ProbeResult maps = run_probe(*make_probe("attention_maps", {}), probed.subject);
  for (std::size_t i = 0; i < probed.subject.examples.size(); ++i) {
    const auto length = static_cast<double>(probed.subject.examples[i].source_rows());
    const auto visible = array_of(maps, "encoder.0." + std::to_string(i) + ".visible").to_doubles();
    CHECK(visible[0] == 0);
    CHECK(visible[1] == std::min(length, 2.0));
    CHECK(visible[visible.size() - 2] == length - 2);
    CHECK(visible.back() == length);
  }
}

TEST_CASE("where heads look is shown when some are taken out, and is the same up to there") {
  Probed probed(ModelKind::decoder);
  const auto maps = make_probe("attention_maps", {});
  const ProbeResult plain = run_probe(*maps, probed.subject);
  const Interventions guard(probed.subject, {parse_intervention("*.heads.0=zero")});
  const ProbeResult cut = run_probe(*maps, probed.subject);
  const auto same = [&](const std::string& name) {
    return array_of(plain, name).to_doubles() == array_of(cut, name).to_doubles();
  };
  CHECK(same("decoder.0.1"));
  CHECK(!same("decoder.1.1"));
  CHECK_NOTHROW(run_probe(*make_probe("attention_entropy", {}), probed.subject));
}

TEST_CASE("of rules for the same part the last one holds") {
  Probed probed(ModelKind::decoder);
  const auto apart = output_under(probed, {"decoder.layers.1.mlp=mean", "decoder.layers.0.mlp=zero"});
  CHECK(distance(output_under(probed, {"*.mlp=mean", "decoder.layers.0.mlp=zero"}), apart) == 0);
  CHECK(distance(output_under(probed, {"*.mlp=resample", "*.mlp=zero"}),
                 output_under(probed, {"*.mlp=zero"})) == 0);
  CHECK(distance(output_under(probed, {"*.mlp=zero", "*.mlp=mean"}), output_under(probed, {"*.mlp=mean"})) ==
        0);
}

TEST_CASE("the mean of a sublayer stands in its place at every token") {
  Probed probed(ModelKind::encoder);
  const auto plain = output_of(probed);
  const auto meant = output_under(probed, {"encoder.layers.0.mlp=mean"});
  CHECK(distance(meant, plain) > 1e-6);
  std::vector<double> by_hand;
  {
    const Interventions guard(probed.subject, {parse_intervention("encoder.layers.0.mlp=mean")});
    Recorder after(*probed.tiny.model, [](const std::string& module, std::string_view what) {
      return module == "encoder.layers.0.mlp" && what == "sublayer";
    });
    output_of(probed);
    by_hand = after.at("encoder.layers.0.mlp", "sublayer").to_doubles();
  }
  const std::size_t D = 16;
  for (std::size_t i = D; i < by_hand.size(); ++i) REQUIRE(by_hand[i] == by_hand[i % D]);
}

TEST_CASE("resampled rows are rows of the reference, drawn alike every time") {
  Probed probed(ModelKind::decoder);
  const auto once = output_under(probed, {"decoder.layers.0.self_attention.heads.0=resample"});
  CHECK(distance(once, output_under(probed, {"decoder.layers.0.self_attention.heads.0=resample"})) == 0);
  CHECK(distance(once, output_of(probed)) > 1e-6);
}

TEST_CASE("another pass over the same sentences draws the same rows") {
  Probed probed(ModelKind::decoder);
  probed.subject.batch_tokens = 8;  // several batches, each with draws of its own
  const Interventions guard(probed.subject, {parse_intervention("decoder.layers.0.*.heads.0=resample"),
                                             parse_intervention("decoder.layers.1.mlp=resample")});
  const auto pass = [&probed] {
    std::vector<double> all;
    for_each_stream(probed.subject, [&all](const StreamPlace&, const RowMatrix& x) {
      all.insert(all.end(), x.values.begin(), x.values.end());
    });
    return all;
  };
  CHECK(pass() == pass());
  const ProbeResult residuals = run_probe(*make_probe("residual_norm", {}), probed.subject);
  for (const double noise : array_of(residuals, "decoder.mean.composite.noise").to_doubles())
    CHECK(noise < 1e-10);
  const PruningScore score(*probed.tiny.model, probed.letters, probed.subject.scored, "log_likelihood", {});
  CHECK(score.segments() == score.segments());
}

TEST_CASE("interventions that name nothing, or nothing possible, are refused") {
  Probed probed(ModelKind::encoder);
  CHECK_THROWS_AS(parse_intervention("encoder.layers.0.mlp"), ConfigError);
  CHECK_THROWS_AS(parse_intervention("encoder.layers.0.mlp=half"), ConfigError);
  CHECK_THROWS_AS(output_under(probed, {"decoder.*=zero"}), ConfigError);
  CHECK_THROWS_AS(output_under(probed, {"encoder.layers.0.mlp=uniform"}), ConfigError);
  CHECK(probed.tiny.model->observer() == nullptr);
}
