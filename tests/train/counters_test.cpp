// What a training step may do, counted rather than timed.
#include <map>

#include "core/pool.h"
#include "core/profile.h"
#include "kernels/matmul.h"
#include "support/catch.h"
#include "train/adamw.h"
#include "train/clip.h"
#include "train/window.h"

using namespace attnlab;

namespace {

constexpr Index kVocabulary = 96, kWidth = 32, kFeedForward = 64, kLayers = 2;

ExperimentSpec small_spec(ModelKind kind = ModelKind::encoder_decoder) {
  ExperimentSpec spec;
  spec.model.kind = kind;
  spec.model.width = kWidth;
  spec.model.tie = Tie::all;
  spec.model.stack.layers = kLayers;
  spec.model.stack.heads = 4;
  spec.model.stack.feed_forward = kFeedForward;
  spec.model.encoder = spec.model.decoder = spec.model.stack;
  spec.train.label_smoothing = 0.1;
  return spec;
}

// Sentences of the given lengths, the same on both sides.
Batch batch_of(const std::vector<Index>& lengths, ModelKind kind) {
  const Random random(3, stream_name("counters"));
  std::vector<Example> examples;
  std::vector<Index> order;
  std::uint64_t next = 0;
  for (const Index length : lengths) {
    Example example;
    for (Index i = 0; i < length && kind != ModelKind::decoder; ++i)
      example.source.push_back(static_cast<Token>(random.below(next++, kVocabulary)));
    for (Index i = 0; i <= length; ++i)
      example.target.push_back(static_cast<Token>(random.below(next++, kVocabulary)));
    examples.push_back(example);
    order.push_back(static_cast<Index>(order.size()));
  }
  return gather(examples, order);
}

// A model under training, one batch over and over.
class Training {
 public:
  Training(const ExperimentSpec& spec, const std::vector<Index>& lengths, DType type = DType::f32)
      : built_(build_model(spec, {kVocabulary, kVocabulary, true}, type, true)),
        optimizer_(AdamWSpec().make(built_->parameters)),
        pieces_{batch_of(lengths, spec.model.kind)},
        smoothing_(spec.train.label_smoothing) {}

  void step() {
    window_gradient(*built_, pieces_, {.smoothing = smoothing_, .seed = 1, .step = ++steps_});
    optimizer_->step(1e-3, clip_scale(global_norm(built_->parameters.gradients()), 1));
  }

  // What the step after a first one does.
  std::unique_ptr<Profile> counted() {
    auto profile = std::make_unique<Profile>(1);
    for (int i = 0; i < 2; ++i) {
      const Profile::Step measured(profile.get());
      step();
    }
    return profile;
  }

 private:
  std::unique_ptr<BuiltModel> built_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<Batch> pieces_;
  double smoothing_;
  Index steps_ = 0;
};

double flop(const Profile& profile, Phase phase) {
  double sum = 0;
  for (const ProfileEntry& entry : profile.entries())
    if (entry.phase == phase) sum += entry.flop;
  return sum;
}

// Floating-point operations of the maps in forward, for one row: one map of an MLP, an attention's four maps,
// the encoder, the decoder with the logits.
constexpr double kMlp = 2.0 * kWidth * kFeedForward, kAttention = 4 * 2.0 * kWidth * kWidth;
constexpr double kLogits = 2.0 * kVocabulary * kWidth;
constexpr double kEncoder = kLayers * (kAttention + 2 * kMlp);
constexpr double kDecoder = kLayers * (2 * kAttention + 2 * kMlp) + kLogits;

// Bytes that ops without products move in a layer's sublayers, in matrices of the residual stream.
std::map<std::string, double> passes(const Profile& profile, double matrix_bytes) {
  std::map<std::string, double> result;
  for (const ProfileEntry& entry : profile.entries()) {
    const std::string layer = "decoder.layers.1.";
    if (entry.products > 0 || !entry.path.starts_with(layer)) continue;
    const std::string sublayer =
        entry.path.substr(layer.size(), entry.path.find('.', layer.size()) - layer.size());
    result[sublayer + " " + to_string(entry.phase)] +=
        (entry.bytes_read + entry.bytes_written) / matrix_bytes;
  }
  return result;
}

}  // namespace

TEST_CASE("after the first step no tensor asks the system for memory") {
  for (const ModelKind kind : {ModelKind::encoder_decoder, ModelKind::decoder})
    for (const DType type : {DType::f32, DType::bf16}) {
      Training training(small_spec(kind), {7, 3, 16, 1}, type);
      training.step();
      const auto misses = Pool::global().counters().misses;
      for (int i = 0; i < 3; ++i) training.step();
      CHECK(Pool::global().counters().misses == misses);
    }
}

TEST_CASE("after the first pass over the shapes no primitive of the library is made") {
  Training training(small_spec(), {64, 63, 65, 17}), other(small_spec(), {64, 63, 65, 17});
  training.step();
  const Index made = kernels::primitive_creations();
  training.step();
  other.step();  // of the same shapes
  CHECK(kernels::primitive_creations() == made);
}

TEST_CASE("a step multiplies each weight with each token three times, and nothing for padding") {
  for (const std::vector<Index>& lengths : {std::vector<Index>{6, 6, 6}, {1, 16, 1}, {18}}) {
    const auto profile = Training(small_spec(), lengths).counted();
    CHECK(flop(*profile, Phase::forward) == 18 * (kEncoder + kDecoder));
    CHECK(flop(*profile, Phase::backward) == 2 * 18 * (kEncoder + kDecoder));
  }
}

TEST_CASE("operations on tokens move as many bytes for ragged sentences as for equal ones") {
  const auto bytes = [](const std::vector<Index>& lengths) {
    std::map<std::string, double> result;
    const auto profile = Training(small_spec(), lengths).counted();
    for (const ProfileEntry& entry : profile->entries())
      result[to_string(entry.phase) + " " + entry.op] += entry.bytes_read + entry.bytes_written;
    return result;
  };
  CHECK(bytes({8, 8, 8}) == bytes({22, 1, 1}));
}

TEST_CASE("frozen weights get no products of their own") {
  ExperimentSpec norms = small_spec();
  norms.train.which.trainable = {"layernorm_only"};
  const auto profile = Training(norms, {9, 4}).counted();
  // Gradients flow through every map, down to the first norm; no map gets one itself. That of the output's
  // input is taken with the loss, tile by tile.
  CHECK(flop(*profile, Phase::forward) == 13 * (kEncoder + kDecoder + kLogits));
  CHECK(flop(*profile, Phase::backward) == 13 * (kEncoder + kDecoder - kLogits));
  for (const ProfiledProduct& product : profile->products()) CHECK_FALSE(product.a_transposed);
}

TEST_CASE("nothing runs backward below the lowest weight that trains") {
  ExperimentSpec top = small_spec(ModelKind::decoder);
  top.train.which.trainable = {"decoder.layers.1.mlp.*"};
  const auto profile = Training(top, {9, 4}).counted();
  // Both kinds of gradients of the MLP, whose norm trains too; that through the logits came with the loss.
  CHECK(flop(*profile, Phase::backward) == 13 * 4 * kMlp);
  for (const ProfileEntry& entry : profile->entries())
    if (entry.phase == Phase::backward) CHECK(entry.path.find("layers.0") == std::string::npos);
}

// Norm 2, attention 4, residual sum 3; of an MLP, whose activation and dropout belong to its products, norm 2
// and residual sum 3; and a few vectors.
TEST_CASE("sublayers pass over the activations no more often than is written here") {
  const Index rows = 24;
  const auto profile = Training(small_spec(), {8, 8, 8}).counted();
  const double matrix = 4.0 * rows * kWidth;
  const auto counts = passes(*profile, matrix);
  CHECK(counts.size() == 6);
  for (const auto& [sublayer, count] : counts) {
    INFO(sublayer << ": " << count);
    CHECK(count <= (sublayer.starts_with("mlp") ? 5.1 : 9.1));
  }
}
