// Where an experiment departs from what the published model that it starts from says of itself.
#pragma once

#include <string>
#include <vector>

#include "models/transformer.h"
#include "train/experiment_spec.h"

namespace attnlab {

// One sentence for each key of the model's config.json that the experiment states otherwise (those aside
// which may differ without harm: dropout, fewer layers, room for longer inputs), and one if the task's
// vocabulary is another one than that of the token table. Such weights can be loaded and are worth little.
// Empty where model.from names no published model. Throws IoError if its config.json cannot be read.
std::vector<std::string> published_departures(const ExperimentSpec& spec, const VocabularySizes& vocabulary);

// Says them in the log, as warnings. Throws IoError likewise.
void warn_of_departures(const ExperimentSpec& spec, const VocabularySizes& vocabulary);

}  // namespace attnlab
