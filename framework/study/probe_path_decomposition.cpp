// What a network of skip connections owes to its paths, by their length (Dong et al. 2021, section 4.2): sums
// of some paths of one length score the task in the place of the network.
#include <cmath>

#include "ops/norm.h"
#include "study/moments.h"
#include "study/paths.h"
#include "study/probe.h"
#include "study/residual.h"
#include "train/log_probability.h"

namespace attnlab {
namespace {

// Puts rows in the place of what the last layer gives.
class LastLayer final : public ModelObserver {
 public:
  LastLayer(Transformer& model, Tensor rows)
      : ModelObserver(model), module_(only_stack(model).layers().back().path()), rows_(std::move(rows)) {}

 protected:
  Var look(const std::string& module, std::string_view what, const Var& value) override {
    return what == "output" && module == module_ ? value.tape().constant(rows_) : value;
  }

 private:
  std::string module_;
  Tensor rows_;
};

struct TaskSums {
  double tokens = 0, right_tokens = 0, sentences = 0, right_sentences = 0, log_probability = 0;
};

Index largest_column(const std::vector<double>& all, Index row, Index columns) {
  const auto begin = all.begin() + row * columns;
  return std::max_element(begin, begin + columns) - begin;
}

// Where the labels of each example lie: under the rows of the stack, or as many for each where the head is
// pooled.
Sequences label_rows(const ModelSpec& spec, const ModelInput& input) {
  if (!spec.pooled()) return rows_read(spec, spec.has_decoder(), input);
  const Index examples = input.source.rows.count();
  return Sequences::equal(examples, std::ssize(input.labels) / examples);
}

void score(const Transformer& model, const ModelInput& input, TaskSums& sums) {
  Tape tape({.training = false});
  const Tensor logits = model.logits(tape, input).value();
  const auto all = logits.to_doubles();
  for (const double value : log_probabilities(logits, input.labels)) sums.log_probability += value;
  const Sequences rows = label_rows(model.spec(), input);
  for (Index b = 0; b < rows.count(); ++b) {
    bool right = true;
    for (Index i = rows.offset(b); i < rows.offset(b) + rows.length(b); ++i) {
      const bool same = largest_column(all, i, logits.columns()) == input.labels[static_cast<std::size_t>(i)];
      sums.right_tokens += same ? 1 : 0;
      right = right && same;
    }
    sums.tokens += static_cast<double>(rows.length(b));
    sums.right_sentences += right ? 1 : 0;
    ++sums.sentences;
  }
}

struct PathDecomposition final : ProbeSpec {
  std::vector<std::int64_t> lengths;
  std::int64_t paths = 5, draws = 3;
  PathAttention attention = PathAttention::own;

  void fields(Fields& f) override {
    f("lengths", lengths, at_least(0), "of paths; empty: all", "layers");
    f("paths", paths, at_least(1), "paths of one length that are summed");
    f("draws", draws, at_least(1), "sums for each length, of other paths each");
    f.choice("attention", attention, {{"own", PathAttention::own}, {"whole", PathAttention::whole}},
             "heads look at what comes along the path, or where they look in the whole network");
  }
  DType precision() const override { return DType::f64; }
  std::string refusal(const ModelSpec& spec) const override {
    if (spec.kind == ModelKind::encoder_decoder)
      return "paths need a model of one stack: kind encoder or decoder";
    const StackSpec& stack = spec.has_encoder() ? spec.encoder : spec.decoder;
    if (!stack.skip.attention) return "without skip connections around attention there is one path only";
    return has_heads(spec) ? "" : "the model has no attention, so it has no paths";
  }

  ProbeResult run(ProbeSubject& subject) const override {
    ProbeResult result;
    std::vector<Index> heads;
    for (const Layer& layer : only_stack(subject.model).layers())
      heads.push_back(layer.self_attention().gates() == nullptr ? 0 : layer.self_attention().shape().H);
    TaskSums whole;
    for_each_batch(subject, [&](const ModelInput& input, Index) { score(subject.model, input, whole); });
    set_numbers("whole", {whole}, result);
    Table table{
        "path_decomposition", {"length", "draw", "paths", "token_accuracy", "sequence_accuracy", "nll"}, {}};
    for (const Index length : chosen_lengths(static_cast<Index>(heads.size()))) {
      std::vector<TaskSums> sums;
      for (Index draw = 0; draw < draws; ++draw) {
        const auto chosen =
            paths_of_length(heads, length, paths, subject.seed + static_cast<std::uint64_t>(draw));
        if (chosen.empty()) continue;
        sums.push_back(score_sum(subject, chosen));
        const TaskSums& one = sums.back();
        table.rows.push_back({length, draw, static_cast<std::int64_t>(chosen.size()),
                              one.right_tokens / one.tokens, one.right_sentences / one.sentences,
                              -one.log_probability / one.tokens});
      }
      set_numbers(join_text("length_", length), sums, result);
    }
    result.tables.push_back(std::move(table));
    set_contrast(static_cast<Index>(heads.size()), result.numbers);
    return result;
  }

 private:
  std::vector<std::int64_t> chosen_lengths(Index layers) const {
    std::vector<std::int64_t> chosen;
    for (Index length = 0; length <= layers; ++length)
      if (lengths.empty() || std::find(lengths.begin(), lengths.end(), length) != lengths.end())
        chosen.push_back(length);
    return chosen;
  }

  // The sum of the paths, with a norm of its own where the network has no final one.
  TaskSums score_sum(ProbeSubject& subject, const std::vector<Path>& chosen) const {
    TaskSums sums;
    const StackSpec& stack =
        subject.model.spec().has_encoder() ? subject.model.spec().encoder : subject.model.spec().decoder;
    for_each_batch(subject, [&](const ModelInput& input, Index) {
      const PathRunner runner(subject, input, attention);
      Tensor sum;
      for (const Path& path : chosen) {
        const Tensor rows = runner.output(path);
        if (!sum)
          sum = rows.clone();
        else
          accumulate(rows, sum);
      }
      Tape tape({.training = false});
      if (stack.norm.position != NormPosition::pre)
        sum = layer_norm(tape.constant(sum), {}, {}, stack.norm.epsilon).value();
      const LastLayer last(subject.model, sum);
      score(subject.model, input, sums);
    });
    return sums;
  }

  // The two shortest lengths above zero minus the two longest, where they are different ones.
  static void set_contrast(Index layers, Record& numbers) {
    if (layers < 4) return;
    for (const char* score : {".token_accuracy", ".sequence_accuracy"}) {
      double contrast = 0;
      for (const auto& [length, sign] :
           {std::pair<Index, int>{1, 1}, {2, 1}, {layers - 1, -1}, {layers, -1}}) {
        const std::string name = join_text("length_", length, score);
        if (numbers.find(name) == nullptr) return;
        contrast += 0.5 * sign * numbers.number(name);
      }
      numbers.set(std::string("short_minus_long") + score, contrast);
    }
  }

  static void set_numbers(const std::string& name, const std::vector<TaskSums>& all, ProbeResult& result) {
    std::vector<double> tokens, sentences, nll;
    for (const TaskSums& one : all) {
      tokens.push_back(one.right_tokens / one.tokens);
      sentences.push_back(one.right_sentences / one.sentences);
      nll.push_back(-one.log_probability / one.tokens);
    }
    if (all.empty()) return;
    result.numbers.set(name + ".token_accuracy", moments_of(tokens).mean);
    result.numbers.set(name + ".sequence_accuracy", moments_of(sentences).mean);
    result.numbers.set(name + ".nll", moments_of(nll).mean);
  }
};

const Registered<ProbeSpec, PathDecomposition> registered{
    "path_decomposition", "scores of sums of paths through the layers, by length"};

}  // namespace
}  // namespace attnlab
