// Decoding a few tokens at a time, with hypotheses that are dropped and doubled, gives the rows of the whole
// sentence at once.
#include "attention/properties_compare.h"

namespace attnlab {
namespace {

// Rows by hypothesis: what went in, what came out.
struct Histories {
  std::vector<std::vector<Tensor>> inputs, outputs;

  void reorder(const std::vector<Index>& parents) {
    Histories old = *this;
    inputs.clear(), outputs.clear();
    for (const Index parent : parents) {
      inputs.push_back(old.inputs[static_cast<std::size_t>(parent)]);
      outputs.push_back(old.outputs[static_cast<std::size_t>(parent)]);
    }
  }
};

Tensor joined(const std::vector<std::vector<Tensor>>& rows, Sequences& places, Index width, DType type) {
  places = {};
  for (const auto& sentence : rows)
    places.offsets.push_back(places.offsets.back() + static_cast<Index>(sentence.size()));
  const Tensor result({places.rows(), width}, type);
  Index row = 0;
  for (const auto& sentence : rows)
    for (const Tensor& one : sentence) result.row_view(row++, 1).copy_from(one);
  return result;
}

// One step: counts[i] new tokens of hypothesis i.
void take_step(Rig& rig, AttentionState& state, Histories& histories, const std::vector<Index>& counts) {
  Mask mask;
  mask.causal = true;
  mask.queries = mask.keys = Sequences::of_lengths(counts);
  for (const auto& history : histories.inputs) mask.past.push_back(static_cast<Index>(history.size()));
  std::size_t drawn = 0;
  for (const auto& history : histories.inputs) drawn = 1000 * (drawn + history.size() + 1) % 999983;
  const Tensor rows = random_rows({mask.queries.rows(), rig.dimensions.width},
                                  "step " + std::to_string(drawn), rig.plan.type);
  Tape tape({.training = false});
  const Var output = rig.attention->step(tape.constant(rows), mask, state);
  for (std::size_t i = 0; i < counts.size(); ++i)
    for (Index t = 0; t < counts[i]; ++t) {
      const Index row = mask.queries.offset(static_cast<Index>(i)) + t;
      histories.inputs[i].push_back(rows.row_view(row, 1).clone());
      histories.outputs[i].push_back(output.value().row_view(row, 1).clone());
    }
}

void decode(Rig& rig, Verdict& verdict, double bound, const std::string& where) {
  const auto state = rig.attention->start(3);
  Histories histories;
  histories.inputs.resize(3), histories.outputs.resize(3);
  const auto step = [&](const std::vector<Index>& counts) { take_step(rig, *state, histories, counts); };
  const auto reorder = [&](const std::vector<Index>& parents) {
    state->reorder(parents);
    histories.reorder(parents);
  };
  step({3, 1, 2});
  step({1, 1, 1});
  reorder({2, 0, 0, 1});
  step({1, 1, 1, 1});
  step({2, 0, 1, 2});
  reorder({3, 1});
  step({1, 1});
  Problem whole;
  whole.query = joined(histories.inputs, whole.mask.queries, rig.dimensions.width, rig.plan.type);
  whole.mask.keys = whole.mask.queries;
  whole.mask.causal = true;
  Sequences places;
  const Tensor stepped = joined(histories.outputs, places, rig.dimensions.width, rig.plan.type);
  compare(verdict, stepped, evaluate(rig, whole), bound, where);
}

void test_incremental(const Subject& subject, Verdict& verdict) {
  RigPlan plan;
  plan.causal = true;
  if (!subject.promises().incremental) {
    verdict.expect_refusal("decoding step by step", [&] {
      plan.causal = subject.promises().causal;
      Rig rig(subject, plan);
      Histories histories;
      histories.inputs.resize(1), histories.outputs.resize(1);
      take_step(rig, *rig.attention->start(1), histories, {1});
    });
    return;
  }
  if (!subject.promises().causal) return verdict.fail("incremental is promised, but causal is not");
  for (const DType type : kTypes) {
    plan.type = type;
    Rig rig(subject, plan);
    decode(rig, verdict, type == DType::f64 ? 1e-10 : order_bound(type), to_string(type));
  }
}

const Property incremental{"incremental", test_incremental};

}  // namespace
}  // namespace attnlab
