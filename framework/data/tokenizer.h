// Tokenizers: lines of text to ids and back. All kinds share one interface; batches are ragged, so there is
// no padding symbol.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/example.h"

namespace attnlab {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  // Ids of one line, without begin and end symbols.
  virtual std::vector<Token> encode(std::string_view line) const = 0;
  // Text of the ids; begin and end symbols are left out.
  virtual std::string decode(std::span<const Token> ids) const = 0;
  // One entry as it stands in the vocabulary. Throws DataError outside [0, size).
  virtual std::string piece(Token id) const = 0;
  virtual Index size() const = 0;
  // The registered kind: "word", "character", "subword".
  virtual std::string name() const = 0;
  // Bytes of the file that `TokenizerSpec::parse` reads.
  virtual std::string serialized() const = 0;

  // The files that other programs know such a vocabulary by: name and bytes. Empty where there is no such
  // form.
  virtual std::vector<std::pair<std::string, std::string>> published_files() const { return {}; }

  Token unk() const { return unk_; }
  Token bos() const { return bos_; }
  Token eos() const { return eos_; }

 protected:
  Token unk_ = 0, bos_ = 1, eos_ = 2;
};

// Frames for a model: source x </s>, target <s> y </s>.
std::vector<Token> source_ids(const Tokenizer& tokenizer, std::string_view line);
std::vector<Token> target_ids(const Tokenizer& tokenizer, std::string_view line);

}  // namespace attnlab
