// The tokenizers `word` and `character`: vocabularies of what the text holds.
#include "config/registry.h"
#include "core/error.h"
#include "data/tokenizer_spec.h"
#include "data/vocabulary.h"

namespace attnlab {
namespace {

template <TokenUnit unit>
struct VocabularySpec final : TokenizerSpec {
  Index min_count = 1;
  Index max_size = 0;

  void fields(Fields& f) override {
    f("min_count", min_count, at_least(1), "leave out what the text holds less often");
    f("max_size", max_size, at_least(0), "keep only so many of the most frequent; 0: all");
  }
  std::string learn(const std::vector<std::string>& lines) const override {
    return Vocabulary::learn(unit, lines, min_count, max_size).serialized();
  }
  std::shared_ptr<const Tokenizer> parse(std::string bytes) const override {
    auto vocabulary = std::make_shared<Vocabulary>(Vocabulary::parse(bytes));
    if (vocabulary->unit() != unit) {
      throw DataError("vocabulary file: it holds entries of kind " + vocabulary->name());
    }
    return vocabulary;
  }
};

const Registered<TokenizerSpec, VocabularySpec<TokenUnit::word>> word{"word", "words between spaces"};
const Registered<TokenizerSpec, VocabularySpec<TokenUnit::character>> character{"character",
                                                                                "every character"};

}  // namespace
}  // namespace attnlab
