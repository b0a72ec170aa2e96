// attnlab bench ops: the operations that memory bounds, forward and backward. The bytes are those that have
// to move at least (each operand read once, each result written once), so that GB/s beside those of a plain
// copy say how far an operation is from the bound.
#include <cstring>

#include "bench/measuring.h"
#include "core/parallel.h"
#include "nn/init.h"
#include "ops/activation.h"
#include "ops/cross_entropy.h"
#include "ops/dropout.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "ops/norm.h"
#include "ops/softmax.h"
#include "train/adamw.h"
#include "train/clip.h"

namespace attnlab {
namespace {

struct Options : MeasureOptions {
  Index rows = 2048, width = 512, feed_forward = 2048, vocabulary = 10000, weights = 1 << 24;
  double dropout = 0.1;
  int repeat = 20;
};

// A function of one matrix; matrices that move forward and backward, counted in sizes of that matrix. 0: the
// gradient is handed on.
struct Case {
  std::string name;
  Index columns;
  double forward_moves, backward_moves;
  std::function<Var(Tape&, const Var&)> apply;
};

Tensor numbers(const Shape& shape, DType type) {
  const Random random(3, stream_name("bench ops"));
  std::vector<double> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = random.uniform(i) - 0.5;
  return Tensor::from(shape, type, values);
}

std::vector<std::int32_t> random_ids(Index count, Index below) {
  const Random random(3, stream_name("bench ids"));
  std::vector<std::int32_t> ids;
  for (Index i = 0; i < count; ++i)
    ids.push_back(static_cast<std::int32_t>(
        random.below(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(below))));
  return ids;
}

std::vector<Case> cases_of(const Options& options, DType type) {
  const Index D = options.width, F = options.feed_forward, V = options.vocabulary;
  const Dropout dropped{options.dropout, stream_name("bench ops.dropout")};
  const Tensor gain = numbers({D}, type), other = numbers({options.rows, D}, type);
  const auto ids = random_ids(options.rows, V);
  return {{"layer_norm", D, 2, 3,
           [gain](Tape& tape, const Var& x) {
             return layer_norm(x, tape.variable(gain), tape.variable(gain), 1e-5);
           }},
          {"residual_sum", D, 3, 3,
           [other, dropped](Tape& tape, const Var& x) {
             return residual_sum(tape.variable(other), x, 1, dropped, 0);
           }},
          {"add", D, 3, 0, [other](Tape& tape, const Var& x) { return add(tape.variable(other), x); }},
          {"relu", F, 2, 3, [](Tape&, const Var& x) { return relu(x); }},
          {"gelu_tanh", F, 2, 3, [](Tape&, const Var& x) { return gelu_tanh(x); }},
          {"dropout", F, 2, 2, [dropped](Tape&, const Var& x) { return dropout(x, dropped, 0); }},
          {"softmax", F, 2, 3, [](Tape&, const Var& x) { return softmax(x); }},
          {"cross_entropy", V, 1, 2, [ids](Tape&, const Var& x) {
             return cross_entropy(x, ids, {.smoothing = 0.1, .normaliser = 1}).loss;
           }}};
}

class Report {
 public:
  Report(const Options& options, DType type) : results_(options.json), type_(type) {}

  void row(const std::string& op, const char* direction, const Shape& shape, double bytes,
           const std::vector<double>& seconds) {
    const double speed = bytes / median(seconds) / 1e9;
    if (copy_ == 0) copy_ = speed;
    Record figures{{"op", op},
                   {"direction", direction},
                   {"rows", shape.rows()},
                   {"columns", shape.columns()},
                   {"precision", to_string(type_)},
                   {"threads", static_cast<Index>(thread_count())},
                   {"mb", rounded(bytes / 1e6)}};
    append_times(seconds, figures);
    figures.set("gb_per_s", rounded(speed, 3));
    figures.set("share_of_copy", rounded(speed / copy_, 3));
    results_.row(figures);
  }

 private:
  ResultTable results_;
  DType type_;
  double copy_ = 0;
};

// What memory gives: every thread copies its part.
void copy(const Tensor& from, const Tensor& to) {
  const Index bytes = from.count() * size_of(from.type());
  parallel_for(bytes, 1 << 16, [&from, &to](Index begin, Index end) {
    std::memcpy(static_cast<std::byte*>(to.raw()) + begin, static_cast<const std::byte*>(from.raw()) + begin,
                static_cast<std::size_t>(end - begin));
  });
}

void measure_copy(const Options& options, DType type, Report& report) {
  const Shape shape{options.rows, options.feed_forward};
  const Tensor from = numbers(shape, type), to(shape, type);
  report.row("copy", "forward", shape, 2.0 * static_cast<double>(shape.count() * size_of(type)),
             timed([&] { copy(from, to); }, 3, options.repeat, 10));
}

void measure_case(const Case& each, const Options& options, DType type, Report& report) {
  const Shape shape{options.rows, each.columns};
  const Tensor x = numbers(shape, type);
  std::vector<double> forward, backward;
  for (int i = -3; i < options.repeat; ++i) {
    Tape tape;
    Var y;
    const double there = timed([&] { y = each.apply(tape, tape.variable(x)); }, 0, 1, 0).front();
    const Tensor gradient = Tensor::filled(y.shape(), y.type(), 1);
    const double back = timed([&] { tape.backward(y, gradient); }, 0, 1, 0).front();
    if (i < 0) continue;
    forward.push_back(there);
    backward.push_back(back);
  }
  const auto bytes = static_cast<double>(shape.count() * size_of(type));
  report.row(each.name, "forward", shape, each.forward_moves * bytes, forward);
  if (each.backward_moves == 0) return;
  report.row(each.name, "backward", shape, each.backward_moves * bytes, backward);
}

// The rows of a table by index, and their gradients back into it.
void measure_embedding(const Options& options, DType type, Report& report) {
  const Tensor table = numbers({options.vocabulary, options.width}, type);
  const auto ids = random_ids(options.rows, options.vocabulary);
  const auto seconds = timed(
      [&] {
        Tape tape;
        embedding(tape.constant(table), ids, 1);
      },
      3, options.repeat, 10);
  report.row("embedding", "forward", {options.rows, options.width},
             2.0 * static_cast<double>(options.rows * options.width * size_of(type)), seconds);
}

// The two passes over all weights: the norm of the gradient, and AdamW with the bf16 copy it writes.
void measure_update(const Options& options, DType type, Report& report) {
  ParameterSet parameters;
  parameters.add("weights", {options.weights}, constant_fill(0.1));
  parameters.finalise(type, 1, [](const Parameter&) { return true; });
  parameters.gradients().fill(1e-3);
  AdamWSpec adam;
  adam.decay = 0.01;
  const auto optimizer = adam.make(parameters);
  const auto count = static_cast<double>(options.weights);
  double norm = 0;
  report.row("global_norm", "update", {options.weights}, 4 * count,
             timed([&] { norm = global_norm(parameters.gradients()); }, 2, options.repeat, 10));
  const double copy = type == DType::bf16 ? 2 : 0;
  report.row("adamw", "update", {options.weights}, (7 * 4 + copy) * count,
             timed([&] { optimizer->step(1e-4, clip_scale(norm, 1)); }, 2, options.repeat, 10));
}

int run(const Options& options) {
  const DType type = options.apply();
  Report report(options, type);
  measure_copy(options, type, report);
  for (const Case& each : cases_of(options, type)) measure_case(each, options, type, report);
  measure_embedding(options, type, report);
  measure_update(options, type, report);
  return 0;
}

const Benchmark benchmark{
    "ops", "operations that memory bounds, in GB/s", [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      options->declare(app);
      app.add_option("--rows", options->rows, "of a matrix")->capture_default_str();
      app.add_option("--width", options->width, "of rows of the model")->capture_default_str();
      app.add_option("--feed-forward", options->feed_forward, "of rows inside the MLP")
          ->capture_default_str();
      app.add_option("--vocabulary", options->vocabulary, "of rows of logits")->capture_default_str();
      app.add_option("--weights", options->weights, "of the optimiser's passes")->capture_default_str();
      app.add_option("--dropout", options->dropout, "rate of dropout")->capture_default_str();
      app.add_option("--repeat", options->repeat, "times each is run")->capture_default_str();
      return [options] { return run(*options); };
    }};

}  // namespace
}  // namespace attnlab
