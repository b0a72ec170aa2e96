#include "data/task_spec.h"

#include "config/error.h"

namespace attnlab {

const TaskSpec& DataSpec::given() const {
  if (task == nullptr) throw ConfigError("data.task is not set: the experiment has nothing to learn");
  return *task;
}

Task DataSpec::load() const { return given().load(root); }

DoctorReport DataSpec::examine() const {
  return examine_texts(given().texts(root), {.max_words = given().overlong_words()});
}

}  // namespace attnlab
