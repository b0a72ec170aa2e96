#include "data/task_spec.h"

#include "config/error.h"

namespace attnlab {

Task DataSpec::load() const {
  if (task == nullptr) throw ConfigError("data.task is not set: the experiment has nothing to learn");
  return task->load(root);
}

}  // namespace attnlab
