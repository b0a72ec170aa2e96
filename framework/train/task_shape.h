// What a run folder keeps of a task with labels besides its vocabularies, so that the model can be built
// without data.
#pragma once

#include <filesystem>

#include "data/task.h"
#include "models/transformer.h"

namespace attnlab {

// Writes folder/task.json. Throws IoError.
void save_task_shape(const std::filesystem::path& folder, const Task& task);
// The vectors and answers of the sizes; vocabularies are left open. Throws IoError if it is missing or
// damaged.
VocabularySizes load_task_shape(const std::filesystem::path& folder);

}  // namespace attnlab
