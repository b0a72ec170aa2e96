// Names of classes: the vocabulary of a task that wants labels. No special entries: every id is a class.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/tokenizer.h"

namespace attnlab {

class Labels final : public Tokenizer {
 public:
  // Throws DataError for an empty name, or one given twice or with a line break.
  explicit Labels(const std::vector<std::string>& names);
  static Labels parse(std::string_view bytes);  // what serialized() wrote; throws DataError

  // The one label that the line says. Throws DataError for an unknown one.
  std::vector<Token> encode(std::string_view line) const override;
  std::string decode(std::span<const Token> ids) const override;  // with spaces between several
  std::string piece(Token id) const override;
  Index size() const override { return static_cast<Index>(names_.size()); }
  std::string name() const override { return "labels"; }
  std::string serialized() const override;

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, Token> ids_;
};

// "0", "1", …: classes that have no names.
std::vector<std::string> numbered(Index count);

// The target of an example with these labels.
std::vector<Token> label_target(const std::vector<Token>& labels);

// The most frequent label of `train`, and how often it is right in `test`: the baseline `majority`.
struct Corpus;
double majority_accuracy(const Corpus& train, const Corpus& test);

}  // namespace attnlab
