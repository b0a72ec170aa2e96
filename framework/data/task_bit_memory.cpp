// The generated task `bit_memory` (Lu et al. 2021, section 2.1): random patterns of bits, then one of them
// with bits masked; the labels of the last rows are its bits. Bits are -1 and 1, masked ones 0, several in a
// row.
#include "config/registry.h"
#include "core/error.h"
#include "data/labels.h"
#include "data/task_spec.h"

namespace attnlab {
namespace {

struct BitMemory final : TaskSpec {
  Index patterns = 5, bits = 50, patch = 10, train = 20000, valid = 200, test = 200, seed = 1;
  double masked = 0.5;

  void fields(Fields& f) override {
    f("patterns", patterns, at_least(1), "shown before the masked one");
    f("bits", bits, at_least(1), "of each pattern");
    f("patch", patch, at_least(1), "bits of one row; must divide bits");
    f("masked", masked, between(0, 1), "share of the bits that are hidden");
    f("train", train, at_least(1), "size of the split", "examples");
    f("valid", valid, at_least(1), "size of the split", "examples");
    f("test", test, at_least(1), "size of the split", "examples");
    f("seed", seed, at_least(0), "of the data alone, so that runs of several seeds share it");
    f.check(bits % patch == 0, "patch", "does not divide bits");
  }

  Task load(const std::filesystem::path&) const override {
    Task task;
    task.target = std::make_shared<Labels>(numbered(2));
    task.vector_width = patch;
    task.labels = bits;
    task.label_rows = bits / patch;
    task.metrics = {"accuracy"};
    task.best_score = 1.0;
    task.tests.push_back({"test", {}});
    fill(task, task.train, "data.bit_memory.train", train);
    fill(task, task.valid, "data.bit_memory.valid", valid);
    fill(task, task.tests.front().corpus, "data.bit_memory.test", test);
    task.baselines = {{"majority", majority_accuracy(task.train, task.tests.front().corpus)},
                      {"copy what is shown", 1 - masked / 2}};
    return task;
  }

 private:
  void fill(const Task& task, Corpus& corpus, const char* stream, Index count) const {
    for (Index n = 0; n < count; ++n) {
      const Random random(static_cast<std::uint64_t>(seed), stream_name(stream),
                          static_cast<std::uint64_t>(n));
      const std::uint64_t all = static_cast<std::uint64_t>(patterns * bits);
      const auto asked = static_cast<Index>(random.below(all, static_cast<std::uint64_t>(patterns)));
      Example example;
      std::vector<Token> labels;
      for (std::uint64_t i = 0; i < all; ++i)
        example.vectors.push_back(random.below(i, 2) == 1 ? 1.0F : -1.0F);
      for (Index i = 0; i < bits; ++i) {
        const float bit = example.vectors[static_cast<std::size_t>(asked * bits + i)];
        const bool hidden = random.uniform(all + 1 + static_cast<std::uint64_t>(i)) < masked;
        labels.push_back(bit > 0 ? 1 : 0);
        example.vectors.push_back(hidden ? 0 : bit);
      }
      example.vector_rows = static_cast<Index>(example.vectors.size()) / patch;
      example.target = label_target(labels);
      corpus.examples.push_back(std::move(example));
      corpus.references.push_back(task.target->decode(labels));
    }
  }
};

const Registered<TaskSpec, BitMemory> registered{"bit_memory",
                                                 "generated: find a pattern again and fill in its bits"};

}  // namespace
}  // namespace attnlab
