#include "train/task_shape.h"

#include <nlohmann/json.hpp>

#include "train/durable_file.h"

namespace attnlab {

void save_task_shape(const std::filesystem::path& folder, const Task& task) {
  const nlohmann::ordered_json json{
      {"vector_width", task.vector_width}, {"labels", task.labels}, {"label_rows", task.label_rows}};
  write_durably(folder / "task.json", json.dump() + "\n");
}

VocabularySizes load_task_shape(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "task.json";
  const auto json = nlohmann::json::parse(read_small_file(path), nullptr, false);
  try {
    VocabularySizes sizes;
    sizes.vectors = json.at("vector_width").get<Index>();
    sizes.answers = {json.at("labels").get<Index>(), json.at("label_rows").get<Index>()};
    return sizes;
  } catch (const nlohmann::json::exception& error) {
    throw IoError(path.string() + " is damaged: " + error.what());
  }
}

}  // namespace attnlab
