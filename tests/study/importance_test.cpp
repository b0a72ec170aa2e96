// The gate gradients behind the importance of heads, against central differences and each other.
#include "study/importance.h"

#include <cmath>
#include <numeric>

#include "study/probed.h"
#include "support/catch.h"

using namespace attnlab;

namespace {

// The loss summed over all sentences, in nats.
double loss_of(Probed& probed) {
  double sum = 0;
  for_each_batch(probed.subject, [&](const ModelInput& input, Index) {
    Tape tape({.training = false});
    sum += probed.tiny.model->loss(tape, input, {}).nll_sum;
  });
  return sum;
}

std::function<void(ModelSpec&)> no_dropout() {
  return [](ModelSpec& spec) { set_all_stacks(spec, [](StackSpec& stack) { stack.dropout.set_all(0); }); };
}

// On one sentence: the importance of every head against the slope of the loss with its gate.
void check_slopes(Probed& probed, std::size_t places) {
  probed.subject.examples.resize(1);
  const auto all = head_importance(probed.subject);
  REQUIRE(all.size() == places);
  for (const HeadImportance& one : all)
    for (std::size_t h = 0; h < one.sample.size(); ++h) {
      CAPTURE(one.place.path(), h);
      double& gate = one.place.attention->gates()->value().data<double>()[h];
      constexpr double kStep = 1e-4;
      gate = 1 + kStep;
      const double above = loss_of(probed);
      gate = 1 - kStep;
      const double below = loss_of(probed);
      gate = 1;
      const double slope = (above - below) / (2 * kStep);
      CHECK(one.sample[h] == Approx(std::fabs(slope)).epsilon(1e-5).margin(1e-8));
      CHECK(one.batch[h] == Approx(one.sample[h]));
    }
}

}  // namespace

TEST_CASE("importance of a head on one sentence is the slope of the loss with its gate") {
  Probed probed(ModelKind::encoder_decoder, no_dropout());
  check_slopes(probed, 6);
}

TEST_CASE("under a pooled head the importance counts every row that the stack reads") {
  for (const ModelKind kind : {ModelKind::decoder, ModelKind::encoder}) {
    Probed probed(kind, [](ModelSpec& spec) {
      no_dropout()(spec);
      spec.head.pool = Pooling::last;
    });
    check_slopes(probed, 2);
  }
}

TEST_CASE("the three estimators are ordered as absolute values of sums are") {
  Probed probed(ModelKind::encoder_decoder, no_dropout());
  probed.subject.batch_tokens = 1000;
  double rows = 0;
  for (const Example& example : probed.subject.examples) rows += static_cast<double>(example.source_rows());
  const auto sentences = static_cast<double>(probed.subject.examples.size());
  for (const HeadImportance& one : head_importance(probed.subject)) {
    if (one.place.type != AttentionType::encoder) continue;
    for (std::size_t h = 0; h < one.token.size(); ++h) {
      CHECK(one.token[h] * rows >= one.sample[h] * sentences * (1 - 1e-12));
      CHECK(one.sample[h] * sentences >= one.batch[h] * (1 - 1e-12));
    }
  }
  probed.subject.batch_tokens = 1;  // one sentence a batch
  for (const HeadImportance& one : head_importance(probed.subject))
    for (std::size_t h = 0; h < one.token.size(); ++h) CHECK(one.batch[h] == Approx(one.sample[h]));
}

TEST_CASE("a head whose gate is shut has no importance; layers are normalised by their l2 norm") {
  Probed probed(ModelKind::decoder, no_dropout());
  probed.tiny.model->decoder()->layers()[1].self_attention().gates()->value().data<double>()[0] = 0;
  const auto all = head_importance(probed.subject);
  REQUIRE(all.size() == 2);
  CHECK(all[1].token[0] == 0);
  CHECK(all[1].token[1] > 0);
  const auto unit = normalised(all[0].token);
  CHECK(std::inner_product(unit.begin(), unit.end(), unit.begin(), 0.0) == Approx(1));
  CHECK(normalised({0, 0}) == std::vector<double>{0, 0});
}
