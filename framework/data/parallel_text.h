// The task `parallel_text`: two files a split, line N of one being the translation of line N of the other.
#pragma once

#include <vector>

#include "data/task_spec.h"
#include "data/tokenizer_spec.h"

namespace attnlab {

struct ParallelTextSpec final : TaskSpec {
  std::string folder;
  std::string source = "en", target = "de";
  std::string train = "train", valid = "val";
  std::vector<std::string> test{"test"};
  Index hold_out = 0;
  std::shared_ptr<TokenizerSpec> tokenizer, source_tokenizer, target_tokenizer;
  bool joint = true;
  Index max_length = 256;
  std::vector<std::string> scores{"bleu", "chrf"};

  ParallelTextSpec();
  void fields(Fields& f) override;
  Task load(const std::filesystem::path& root) const override;
  std::vector<TextSplit> texts(const std::filesystem::path& root) const override;
  Index overlong_words() const override { return max_length; }

  // The file of a split on one side, within `folder`: `{lang}` in the name stands for the language, a name
  // without it gets ".LANGUAGE" appended.
  static std::string file_name(const std::string& split, const std::string& language);
};

}  // namespace attnlab
