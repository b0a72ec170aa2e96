// What a frozen body says of every example, computed once: where only the head trains, the body need not run
// again.
#pragma once

#include <filesystem>

#include "data/task.h"
#include "train/build_model.h"

namespace attnlab {

struct Features {
  Tensor train, valid;  // [examples * rows_each, D], in the order of the examples; hold nothing if not cached
  Index rows_each = 1;
  double seconds = 0;  // that it took to compute or to read them
  // The rows of these examples, one after another.
  Tensor rows(const Tensor& all, const std::vector<Index>& examples) const;
};

// Computes the rows that the head maps for the training and validation splits, without dropout, or takes them
// from `cache`/features, where the file's name says what they depend on: the inputs of both splits, the
// body's weights and settings, the element type, and the code that computes (program_digest.h). Throws
// ConfigError where anything but the head trains, the head is not pooled, or training examples change;
// IoError where the cache cannot be written. A damaged file is made anew.
Features features_of(const ExperimentSpec& spec, const Task& task, const BuiltModel& built,
                     const std::filesystem::path& cache);

}  // namespace attnlab
