// The tokenizer `subword`: SentencePiece BPE or unigram, learned from the text.
#include <algorithm>

#include "config/registry.h"
#include "core/random.h"
#include "data/subword.h"
#include "data/tokenizer_spec.h"

namespace attnlab {
namespace {

struct SubwordSpec final : TokenizerSpec {
  SubwordModel model = SubwordModel::bpe;
  Index size = 8000;
  double coverage = 1.0;
  bool byte_fallback = false;
  bool lowercase = false;
  Index sample = 0;
  Index seed = 1;

  void fields(Fields& f) override {
    f.choice("model", model, {{"bpe", SubwordModel::bpe}, {"unigram", SubwordModel::unigram}},
             "how it is learned");
    f("size", size, at_least(4), "entries, <unk>, <s> and </s> included");
    f("coverage", coverage, between(0.9, 1), "share of all characters that get entries of their own");
    f("byte_fallback", byte_fallback, "write unknown characters as bytes instead of <unk>");
    f("lowercase", lowercase, "fold case before anything else");
    f("sample", sample, at_least(0), "learn from so many lines drawn at random; 0: from all", "lines");
    f("seed", seed, between(0, 4294967294), "of the sample, and of the learner");
  }
  std::string learn(const std::vector<std::string>& lines) const override {
    const SubwordSettings settings{.model = model,
                                   .size = size,
                                   .coverage = coverage,
                                   .byte_fallback = byte_fallback,
                                   .lowercase = lowercase,
                                   .seed = static_cast<std::uint32_t>(seed)};
    const auto count = static_cast<Index>(lines.size());
    return sample == 0 || sample >= count ? train_subwords(lines, settings)
                                          : train_subwords(drawn(lines), settings);
  }
  std::shared_ptr<const Tokenizer> parse(std::string bytes) const override {
    return parse_subwords(std::move(bytes));
  }

 private:
  // `sample` of the lines, in their order.
  std::vector<std::string> drawn(const std::vector<std::string>& lines) const {
    const Random random(static_cast<std::uint64_t>(seed), stream_name("data.subword.sample"));
    std::vector<Index> order = random.permutation(static_cast<Index>(lines.size()));
    order.resize(static_cast<std::size_t>(sample));
    std::sort(order.begin(), order.end());
    std::vector<std::string> chosen;
    for (const Index i : order) chosen.push_back(lines[static_cast<std::size_t>(i)]);
    return chosen;
  }
};

const Registered<TokenizerSpec, SubwordSpec> registered{"subword", "SentencePiece BPE or unigram pieces"};

}  // namespace
}  // namespace attnlab
