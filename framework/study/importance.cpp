#include "study/importance.h"

#include <cmath>
#include <map>

#include "ops/elementwise.h"
#include "ops/reshape.h"

namespace attnlab {
namespace {

// Puts a gate of its own, one, behind every head at every token.
class TokenGates final : public ModelObserver {
 public:
  TokenGates(Transformer& model, const std::vector<AttentionPlace>& places) : ModelObserver(model) {
    for (const AttentionPlace& place : places) heads_[place.path()] = place.heads();
  }
  // dL / d gate [N, H] after backward.
  const Tensor& gradient(Tape& tape, const std::string& path) const { return tape.gradient(gates_.at(path)); }

 protected:
  Var look(const std::string& module, std::string_view what, const Var& value) override {
    if (what != "heads") return value;
    const Index H = heads_.at(module), N = value.shape()[0], V = value.shape()[1] / H;
    const Var gates = value.tape().variable(Tensor::filled({N, H, 1}, value.type(), 1));
    gates_[module] = gates;
    return reshape(multiply(reshape(value, {N, H, V}), gates), {N, H * V});
  }

 private:
  std::map<std::string, Index> heads_;
  std::map<std::string, Var> gates_;
};

// Adds one batch: the gradients of `rows`, sentence by sentence.
void add_batch(const std::vector<double>& gradients, const Sequences& rows, HeadImportance& sums) {
  const std::size_t H = sums.token.size();
  std::vector<double> of_batch(H);
  for (Index b = 0; b < rows.count(); ++b) {
    std::vector<double> of_sentence(H);
    for (Index t = 0; t < rows.length(b); ++t)
      for (std::size_t h = 0; h < H; ++h) {
        const double g = gradients[static_cast<std::size_t>(rows.offset(b) + t) * H + h];
        sums.token[h] += std::fabs(g);
        of_sentence[h] += g;
      }
    for (std::size_t h = 0; h < H; ++h) {
      sums.sample[h] += std::fabs(of_sentence[h]);
      of_batch[h] += of_sentence[h];
    }
  }
  for (std::size_t h = 0; h < H; ++h) sums.batch[h] += std::fabs(of_batch[h]);
}

void divide(std::vector<double>& values, double by) {
  for (double& v : values) v /= std::max(by, 1.0);
}

}  // namespace

std::vector<HeadImportance> head_importance(ProbeSubject& subject) {
  std::vector<HeadImportance> all;
  for (const AttentionPlace& place : attention_places(subject.model)) {
    const std::vector<double> none(static_cast<std::size_t>(place.heads()));
    all.push_back({place, none, none, none});
  }
  std::vector<double> tokens(all.size());
  double sentences = 0, batches = 0;
  TokenGates gates(subject.model, attention_places(subject.model));
  for_each_batch(subject, [&](const ModelInput& input, Index) {
    Tape tape;
    tape.backward(subject.model.loss(tape, input, {}).loss);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Mask mask = mask_at(all[i].place, subject.model.spec(), input);
      add_batch(gates.gradient(tape, all[i].place.path()).to_doubles(), mask.queries, all[i]);
      tokens[i] += static_cast<double>(mask.queries.rows());
    }
    sentences += static_cast<double>(std::max(input.target.rows.count(), input.source.rows.count()));
    ++batches;
  });
  for (std::size_t i = 0; i < all.size(); ++i) {
    divide(all[i].token, tokens[i]);
    divide(all[i].sample, sentences);
    divide(all[i].batch, batches);
  }
  return all;
}

std::vector<double> normalised(std::vector<double> values) {
  double square = 0;
  for (const double v : values) square += v * v;
  if (square > 0)
    for (double& v : values) v /= std::sqrt(square);
  return values;
}

}  // namespace attnlab
