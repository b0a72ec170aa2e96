// Kinds of tasks, and the `data:` section of an experiment. A kind registers itself from its own .cpp file.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/fields.h"
#include "data/doctor.h"
#include "data/framed_text.h"
#include "data/task.h"

namespace attnlab {

struct TaskSpec {
  static constexpr const char* kRegistry = "task";
  virtual ~TaskSpec() = default;
  virtual void fields(Fields& f) = 0;
  // Reads or makes all of it. `root` is where data sets lie and vocabularies are cached. Throws DataError.
  virtual Task load(const std::filesystem::path& root) const = 0;
  // The text files that load() reads, whether they exist or not; none for a task that reads no text.
  virtual std::vector<TextSplit> texts(const std::filesystem::path& /*root*/) const { return {}; }
  // Whether the text that a language model learns ends lines with the line break itself; otherwise </s>
  // stands between lines. What a prompt begins with follows from it.
  virtual bool ends_lines_with_newline() const { return false; }
  // What a model reads of a text with these ids of the source's vocabulary, framed and cut as load() does it;
  // nothing for a task that does not label whole texts. Throws DataError for ids that no such text has.
  virtual std::optional<FramedText> frame(const Tokenizer& /*source*/, std::vector<Token> /*ids*/) const {
    return {};
  }
  // Words beyond which the data doctor calls a line overlong.
  virtual Index overlong_words() const { return 256; }
};

struct DataSpec {
  std::string root = "data";
  std::shared_ptr<TaskSpec> task;

  void fields(Fields& f) {
    f("root", root, "folder of data sets and of cached vocabularies");
    f.kind("task", task, "what there is to learn");
  }
  // Throws ConfigError if no task is set.
  Task load() const;
  // What the data doctor says about the task's files. Throws ConfigError likewise.
  DoctorReport examine() const;

 private:
  const TaskSpec& given() const;
};

}  // namespace attnlab
