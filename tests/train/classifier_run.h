// The run folder of a small classifier of sentences with random weights, and the reviews it belongs to.
#pragma once

#include "config/spec.h"
#include "data/files.h"
#include "data/tokenizer_spec.h"
#include "support/scratch.h"
#include "train/checkpoint_store.h"
#include "train/task_shape.h"
#include "train/trained_model.h"

namespace attnlab {

struct ClassifierRun {
  // `task` and `model`: what stands after the kind of the task, and after the sizes of the model.
  explicit ClassifierRun(const std::string& task = "kind: polarity, max_tokens: 8",
                         const std::string& model = "kind: encoder, head: {pool: mean, gain: 5}") {
    std::string good, bad;
    for (int i = 0; i < 20; ++i) {
      const std::string number = std::to_string(i);
      good += "a fine film number " + number + "\n";
      bad += "a dull film number " + number + " that goes on and on\n";
    }
    write_file(root.path() / "sentence-polarity" / "rt-polarity.pos", good);
    write_file(root.path() / "sentence-polarity" / "rt-polarity.neg", bad);
    const std::string config =
        "precision: f32\nmodel: {width: 16, heads: 2, layers: 1, feed_forward: 16, tie: none, " + model +
        "}\ndecode: {batch_sentences: 4}\ndata: {root: " + root.path().string() + ", task: {" + task + "}}\n";
    ExperimentSpec spec;
    read_spec(Tree::parse(config), spec);
    loaded = spec.data.load();
    write_file(folder() / "config.yaml", config);
    save_tokenizer(folder() / "vocabulary", "target", *loaded.target);
    if (loaded.source) save_tokenizer(folder() / "vocabulary", "source", *loaded.source);
    if (spec.model.pooled()) save_task_shape(folder() / "vocabulary", loaded);
    const auto built = build_model(spec, vocabulary_of(loaded), DType::f32, false);
    TrainingState state;
    state.step = 1;
    CheckpointStore(folder() / "checkpoints", {}).save(built->parameters, nullptr, state);
  }
  std::filesystem::path folder() const { return root.path() / "run"; }

  ScratchFolder root;
  Task loaded;
};

}  // namespace attnlab
