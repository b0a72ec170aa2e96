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

  // The file of a split on one side: `{lang}` in the name stands for the language, a name without it gets
  // ".LANGUAGE" appended. Plain, or with .gz. Throws DataError with the way to get it if it is missing.
  std::filesystem::path file(const std::filesystem::path& root, const std::string& split,
                             const std::string& language) const;
};

}  // namespace attnlab
