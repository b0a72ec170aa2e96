// The generated task `bit_xor` (Lu et al. 2021, section 2.1): two strings of bits, one bit a row; the labels
// of the last rows are their exclusive or. Inputs of validation and test are held out from training: n = 5
// has only 1,024.
#include <algorithm>
#include <set>

#include "config/registry.h"
#include "core/error.h"
#include "data/labels.h"
#include "data/task_spec.h"

namespace attnlab {
namespace {

struct BitXor final : TaskSpec {
  Index bits = 5, train = 8000, valid = 128, test = 128, seed = 1;
  double held_out = 0.25;

  void fields(Fields& f) override {
    f("bits", bits, between(1, 24), "of each string");
    f("held_out", held_out, between(0, 1, upper_exclusive), "share of all inputs that training never shows");
    f("train", train, at_least(1), "size of the split; inputs may come more than once", "examples");
    f("valid", valid, at_least(1), "at most, all different, and held out", "examples");
    f("test", test, at_least(1), "at most, all different, held out, and not in the validation split",
      "examples");
    f("seed", seed, at_least(0), "of the data alone, so that runs of several seeds share it");
  }

  Task load(const std::filesystem::path&) const override {
    Task task;
    task.target = std::make_shared<Labels>(numbered(2));
    task.vector_width = 1;
    task.labels = task.label_rows = bits;
    task.metrics = {"accuracy"};
    task.best_score = 1.0;
    task.tests.push_back({"test", {}});
    const std::uint64_t inputs = std::uint64_t{1} << (2 * bits);
    const std::vector<std::uint64_t> held = held_out_codes(inputs);
    const auto count = static_cast<Index>(held.size());
    if (count < 2)
      throw DataError(join_text("data.task.held_out: ", held_out, " holds out ", count, " of ", inputs,
                                " inputs, but validation and test need at least one each; raise it, or "
                                "data.task.bits"));
    const Index validated = validation_share(count);
    for (Index i = 0; i < count; ++i)
      add(task, i < validated ? task.valid : task.tests.front().corpus, held[static_cast<std::size_t>(i)]);
    const Random draw(static_cast<std::uint64_t>(seed), stream_name("data.bit_xor.train"));
    for (std::uint64_t i = 0; static_cast<Index>(task.train.examples.size()) < train; ++i) {
      const std::uint64_t code = draw.below(i, inputs);
      if (!is_held_out(code)) add(task, task.train, code);
      if (i > 1000 && i / 1000 > static_cast<std::uint64_t>(train))
        throw DataError("bit_xor: almost every input is held out");
    }
    task.baselines = {{"majority", majority_accuracy(task.train, task.tests.front().corpus)}};
    return task;
  }

 private:
  // Inputs that training never shows, in a random order: as many as validation and test ask for, if there
  // are; all different.
  std::vector<std::uint64_t> held_out_codes(std::uint64_t inputs) const {
    const Random order(static_cast<std::uint64_t>(seed), stream_name("data.bit_xor.held_out_order"));
    // Few inputs: all of them, shuffled. Many: draws that did not come before; not without end, for
    // `held_out` may be too small for as many.
    const bool few = inputs <= (1U << 16);
    const std::vector<Index> shuffled =
        few ? order.permutation(static_cast<Index>(inputs)) : std::vector<Index>{};
    const std::uint64_t wanted = static_cast<std::uint64_t>(valid) + static_cast<std::uint64_t>(test);
    const std::uint64_t draws = few ? inputs : 16 * wanted;
    std::set<std::uint64_t> seen;
    std::vector<std::uint64_t> codes;
    for (std::uint64_t i = 0; i < draws && codes.size() < wanted; ++i) {
      const std::uint64_t code =
          few ? static_cast<std::uint64_t>(shuffled[static_cast<std::size_t>(i)]) : order.below(i, inputs);
      if (is_held_out(code) && (few || seen.insert(code).second)) codes.push_back(code);
    }
    return codes;
  }

  // How many of `count` held-out inputs are for validation: all that it asks for, as long as the test keeps
  // some; otherwise its share of what both ask for.
  Index validation_share(Index count) const {
    if (count > valid) return valid;
    const auto asked = static_cast<double>(valid), all = asked + static_cast<double>(test);
    return std::clamp<Index>(static_cast<Index>(static_cast<double>(count) * asked / all), 1, count - 1);
  }

  bool is_held_out(std::uint64_t code) const {
    return Random(static_cast<std::uint64_t>(seed), stream_name("data.bit_xor.held_out")).uniform(code) <
           held_out;
  }
  void add(const Task& task, Corpus& corpus, std::uint64_t code) const {
    Example example;
    std::vector<Token> labels;
    for (Index i = 0; i < 2 * bits; ++i) example.vectors.push_back(static_cast<float>(code >> i & 1U));
    for (Index i = 0; i < bits; ++i)
      labels.push_back(static_cast<Token>((code >> i ^ code >> (i + bits)) & 1U));
    example.vector_rows = 2 * bits;
    example.target = label_target(labels);
    corpus.examples.push_back(std::move(example));
    corpus.references.push_back(task.target->decode(labels));
  }
};

const Registered<TaskSpec, BitXor> registered{"bit_xor", "generated: exclusive or of two strings of bits"};

}  // namespace
}  // namespace attnlab
