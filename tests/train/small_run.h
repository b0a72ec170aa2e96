// An experiment of seconds, ready to train, from a configuration with assignments on top.
#pragma once

#include "config/spec.h"
#include "train/log.h"
#include "train/trainer.h"

namespace attnlab {

struct SmallRun {
  SmallRun(const char* config, const std::vector<std::string>& assignments) {
    silence_log(true);
    Tree tree = Tree::parse(config);
    for (const auto& assignment : assignments) tree.set(assignment);
    read_spec(tree, spec);
    task = spec.data.load();
    check_fit(spec, task);
    built = build_model(spec, vocabulary_of(task), choose_precision(spec.precision).type, true);
    trainer = std::make_unique<Trainer>(spec, task, *built, content_hash(task));
  }

  ExperimentSpec spec;
  Task task;
  std::unique_ptr<BuiltModel> built;
  std::unique_ptr<Trainer> trainer;
};

}  // namespace attnlab
