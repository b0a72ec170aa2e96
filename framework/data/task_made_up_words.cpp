// The generated task `made_up_words`: running text for language models without any download. Each document
// has a few words of its own, made of syllables, and says them again and again in sentences of one form, so
// that a model learns both the spelling and to look back at what was said.
#include "config/registry.h"
#include "core/error.h"
#include "data/task_spec.h"
#include "data/vocabulary.h"

namespace attnlab {
namespace {

constexpr const char* kSyllables[] = {"ka",  "lo",  "mi",  "ne",  "pu",  "ra",  "so",  "ti",  "ve",  "zu",
                                      "ban", "dor", "fel", "gim", "hus", "jat", "wen", "xol", "yip", "qua"};
constexpr const char* kSmallWords[] = {"the", "a", "sees", "has", "and", "is", "near", "under", "not"};

struct MadeUpWords final : TaskSpec {
  Index words = 5, block = 64, train = 20000, valid = 500, test = 500, seed = 1;

  void fields(Fields& f) override {
    f("words", words, at_least(1), "made up for each document");
    f("block", block, at_least(1), "characters of a document", "characters");
    f("train", train, at_least(1), "size of the split", "documents");
    f("valid", valid, at_least(1), "size of the split", "documents");
    f("test", test, at_least(1), "size of the split", "documents");
    f("seed", seed, at_least(0), "of the data alone, so that runs of several seeds share it");
  }

  Task load(const std::filesystem::path&) const override {
    std::vector<std::string> letters{" ", "."};
    for (char c = 'a'; c <= 'z'; ++c) letters.emplace_back(1, c);
    Task task;
    task.target = std::make_shared<Vocabulary>(TokenUnit::character, letters);
    task.metrics = {"perplexity"};
    task.tests.push_back({"test", {}});
    fill(*task.target, task.train, "data.made_up_words.train", train);
    fill(*task.target, task.valid, "data.made_up_words.valid", valid);
    fill(*task.target, task.tests.front().corpus, "data.made_up_words.test", test);
    return task;
  }

 private:
  void fill(const Tokenizer& letters, Corpus& corpus, const char* stream, Index count) const {
    for (Index n = 0; n < count; ++n) {
      const Random random(static_cast<std::uint64_t>(seed), stream_name(stream),
                          static_cast<std::uint64_t>(n));
      std::vector<Token> target = letters.encode(document(random));
      target.resize(static_cast<std::size_t>(block));
      target.insert(target.begin(), letters.eos());
      corpus.examples.push_back({{}, std::move(target)});
    }
  }

  std::string document(const Random& random) const {
    std::uint64_t next = 0;
    const auto below = [&random, &next](std::uint64_t bound) { return random.below(next++, bound); };
    std::vector<std::string> lexicon;
    for (Index w = 0; w < words; ++w) {
      std::string word;
      for (std::uint64_t s = 2 + below(2); s > 0; --s) word += kSyllables[below(std::size(kSyllables))];
      lexicon.push_back(word);
    }
    std::string text;
    while (static_cast<Index>(text.size()) < block) {
      for (std::uint64_t i = 3 + below(3); i > 0; --i) {
        text += below(2) == 0 ? lexicon[below(lexicon.size())] : kSmallWords[below(std::size(kSmallWords))];
        text += i > 1 ? " " : ". ";
      }
    }
    return text;
  }
};

const Registered<TaskSpec, MadeUpWords> registered{
    "made_up_words", "generated: text with words of its own, for language models"};

}  // namespace
}  // namespace attnlab
