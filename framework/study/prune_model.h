// Pruned models: heads out by their gates, which are kept with the weights, or removed for real, with smaller
// matrices.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "study/head_mask.h"
#include "train/trained_model.h"

namespace attnlab {

// Heads whose names ("encoder.layers.0.self_attention.heads.3") match a pattern. Throws ConfigError for a
// pattern that matches none.
std::vector<HeadId> heads_by_name(const std::vector<AttentionPlace>& places,
                                  const std::vector<std::string>& patterns);

// Sets the gates of these heads to zero.
void shut_gates(TrainedModel& trained, const std::vector<HeadId>& removed);

// The same model without the heads whose gates are zero: smaller matrices, everything else as it was. Its
// spec says how many heads are left in each layer. Outputs agree with those of the masked model but for the
// order of sums.
TrainedModel without_shut_heads(const TrainedModel& trained);

// A run folder that eval, translate, predict and probe take: config, vocabulary, one checkpoint, and
// pruned.json with the heads that are out. Throws ConfigError if there is something in the folder, IoError.
void write_pruned_run(const TrainedModel& trained, const std::vector<std::string>& removed,
                      const std::filesystem::path& folder);

// The names of heads.
std::vector<std::string> names_of(const std::vector<AttentionPlace>& places,
                                  const std::vector<HeadId>& heads);

}  // namespace attnlab
