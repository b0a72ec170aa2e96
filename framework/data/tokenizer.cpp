#include "data/tokenizer.h"

namespace attnlab {

std::vector<Token> source_ids(const Tokenizer& tokenizer, std::string_view line) {
  std::vector<Token> ids = tokenizer.encode(line);
  ids.push_back(tokenizer.eos());
  return ids;
}

std::vector<Token> target_ids(const Tokenizer& tokenizer, std::string_view line) {
  std::vector<Token> ids = tokenizer.encode(line);
  ids.insert(ids.begin(), tokenizer.bos());
  ids.push_back(tokenizer.eos());
  return ids;
}

}  // namespace attnlab
