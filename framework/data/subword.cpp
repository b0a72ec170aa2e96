#include "data/subword.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <thread>
#include <unordered_map>

#include "core/error.h"

namespace attnlab {
namespace {

class Lines final : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(const std::vector<std::string>& lines) : lines_(lines) { skip_empty(); }
  bool done() const override { return at_ == lines_.size(); }
  void Next() override {
    ++at_;
    skip_empty();
  }
  const std::string& value() const override { return lines_[at_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  void skip_empty() {
    while (at_ < lines_.size() && lines_[at_].empty()) ++at_;
  }
  const std::vector<std::string>& lines_;
  std::size_t at_ = 0;
};

std::unordered_map<std::string, std::string> training_flags(const SubwordSettings& settings,
                                                            std::size_t longest) {
  return {{"model_type", settings.model == SubwordModel::bpe ? "bpe" : "unigram"},
          {"vocab_size", std::to_string(settings.size)},
          {"character_coverage", join_text(settings.coverage)},
          {"byte_fallback", settings.byte_fallback ? "true" : "false"},
          {"normalization_rule_name", settings.lowercase ? "nmt_nfkc_cf" : "nmt_nfkc"},
          {"num_threads", "1"},
          {"max_sentence_length", std::to_string(longest + 1)},
          {"shuffle_input_sentence", "false"},
          {"unk_id", "0"},
          {"bos_id", "1"},
          {"eos_id", "2"},
          {"pad_id", "-1"},
          {"minloglevel", "2"}};
}

class Subwords final : public Tokenizer {
 public:
  explicit Subwords(std::string bytes) : bytes_(std::move(bytes)) {
    const auto status = processor_.LoadFromSerializedProto(bytes_);
    if (!status.ok()) throw DataError("not a SentencePiece model: " + status.ToString());
    unk_ = processor_.unk_id();
    bos_ = processor_.bos_id();
    eos_ = processor_.eos_id();
    if (bos_ < 0 || eos_ < 0) throw DataError("a SentencePiece model without <s> or </s> cannot be used");
  }

  std::vector<Token> encode(std::string_view line) const override {
    std::vector<int> ids;
    const auto status = processor_.Encode({line.data(), line.size()}, &ids);
    if (!status.ok()) throw DataError("SentencePiece cannot encode: " + status.ToString());
    return {ids.begin(), ids.end()};
  }
  std::string decode(std::span<const Token> ids) const override {
    std::vector<int> kept;
    for (const Token id : ids) {
      piece(id);
      if (id != bos_ && id != eos_) kept.push_back(id);
    }
    std::string line;
    const auto status = processor_.Decode(kept, &line);
    if (!status.ok()) throw DataError("SentencePiece cannot decode: " + status.ToString());
    return line;
  }
  std::string piece(Token id) const override {
    if (id < 0 || id >= size()) {
      throw DataError(join_text("vocabulary: id ", id, " is outside [0, ", size(), ")"));
    }
    return processor_.IdToPiece(id);
  }
  Index size() const override { return processor_.GetPieceSize(); }
  std::string name() const override { return "subword"; }
  std::string serialized() const override { return bytes_; }
  std::vector<std::pair<std::string, std::string>> published_files() const override {
    return {{"tokenizer.model", bytes_}};
  }

 private:
  std::string bytes_;
  sentencepiece::SentencePieceProcessor processor_;
};

}  // namespace

std::string train_subwords(const std::vector<std::string>& lines, const SubwordSettings& settings) {
  std::size_t longest = 0;
  for (const std::string& line : lines) longest = std::max(longest, line.size());
  if (longest == 0) throw DataError("subword vocabulary: there is no text to learn from");
  std::string model;
  sentencepiece::util::Status status;
  // The library's random numbers are per thread and start from the seed: a new thread starts afresh.
  std::thread worker([&lines, &settings, longest, &model, &status] {
    sentencepiece::SetRandomGeneratorSeed(settings.seed);
    Lines iterator(lines);
    status = sentencepiece::SentencePieceTrainer::Train(training_flags(settings, longest), &iterator, &model);
  });
  worker.join();
  if (!status.ok()) {
    throw DataError(join_text("subword vocabulary of ", settings.size, " entries from ", lines.size(),
                              " lines: ", status.ToString()));
  }
  return model;
}

std::shared_ptr<const Tokenizer> parse_subwords(std::string bytes) {
  return std::make_shared<Subwords>(std::move(bytes));
}

}  // namespace attnlab
