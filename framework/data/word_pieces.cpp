#include "data/word_pieces.h"

#include "core/error.h"
#include "data/files.h"
#include "data/unicode.h"
#include "data/utf8.h"

namespace attnlab {
namespace {

constexpr std::size_t kLongestWord = 100;  // characters

using Word = std::vector<char32_t>;

// The first line of serialized(); what is as usual goes without saying.
std::string heading_of(const WordPieceModel& model) {
  std::string text = std::string("attnlab word pieces 1 ") + (model.lowercase ? "lowercase" : "cased");
  if (model.strip_accents != model.lowercase)
    text += model.strip_accents ? ", accents taken off" : ", accents kept";
  return text + (model.ideographs_apart ? "" : ", ideographs joined");
}

bool is_ideograph(char32_t c) {
  return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) || (c >= 0x20000 && c <= 0x2a6df) ||
         (c >= 0x2a700 && c <= 0x2b73f) || (c >= 0x2b740 && c <= 0x2b81f) || (c >= 0x2b920 && c <= 0x2ceaf) ||
         (c >= 0xf900 && c <= 0xfaff) || (c >= 0x2f800 && c <= 0x2fa1f);
}

bool is_mark(char32_t c) {
  const bool ascii = (c >= 0x21 && c <= 0x2f) || (c >= 0x3a && c <= 0x40) || (c >= 0x5b && c <= 0x60) ||
                     (c >= 0x7b && c <= 0x7e);
  return ascii || is_punctuation(c);
}

// Cuts the text into words and marks; characters that nobody sees are left out.
class Cutter {
 public:
  explicit Cutter(const WordPieceModel& model) : model_(model) {}
  void take(char32_t c) {
    if (c == 0 || c == 0xfffd) return;
    if (is_white_space(c) && !is_hidden(c)) return finish();
    if (is_hidden(c)) return;
    const bool alone = model_.ideographs_apart && is_ideograph(c);
    if (alone) finish();
    for (const char32_t bare : model_.strip_accents ? without_accents(c) : Word{c})
      for (const char32_t low : model_.lowercase ? lowercased(bare) : Word{bare}) put(low);
    if (alone) finish();
  }
  std::vector<Word> words() {
    finish();
    return std::move(words_);
  }

 private:
  void put(char32_t c) {
    if (is_white_space(c)) return finish();
    if (is_mark(c)) finish();
    word_.push_back(c);
    if (is_mark(c)) finish();
  }
  void finish() {
    if (!word_.empty()) words_.push_back(std::move(word_));
    word_.clear();
  }
  const WordPieceModel& model_;
  Word word_;
  std::vector<Word> words_;
};

}  // namespace

WordPieces::WordPieces(WordPieceModel model) : model_(std::move(model)) {
  for (std::size_t i = 0; i < model_.pieces.size(); ++i)
    if (model_.pieces[i].empty() || !ids_.emplace(model_.pieces[i], static_cast<Token>(i)).second)
      throw DataError(
          join_text("word pieces: entry ", i, " ('", model_.pieces[i], "') is empty or given twice"));
  const auto special = [this](const char* piece) {
    const auto found = ids_.find(piece);
    if (found == ids_.end()) throw DataError(std::string("word pieces: the vocabulary has no ") + piece);
    return found->second;
  };
  unk_ = special("[UNK]");
  bos_ = special("[CLS]");
  eos_ = special("[SEP]");
}

void WordPieces::encode_word(const Word& word, std::vector<Token>& ids) const {
  if (word.size() > kLongestWord) return ids.push_back(unk_);
  std::vector<Token> pieces;
  for (std::size_t begin = 0; begin < word.size();) {
    std::size_t end = word.size();
    auto found = ids_.end();
    for (; end > begin; --end) {
      const std::string text = to_utf8({word.begin() + static_cast<std::ptrdiff_t>(begin),
                                        word.begin() + static_cast<std::ptrdiff_t>(end)});
      found = ids_.find(begin > 0 ? "##" + text : text);
      if (found != ids_.end()) break;
    }
    if (end == begin) return ids.push_back(unk_);
    pieces.push_back(found->second);
    begin = end;
  }
  ids.insert(ids.end(), pieces.begin(), pieces.end());
}

std::vector<Token> WordPieces::encode(std::string_view line) const {
  Cutter cutter(model_);
  for (const char32_t c : code_points(line)) cutter.take(c);
  std::vector<Token> ids;
  for (const Word& word : cutter.words()) encode_word(word, ids);
  return ids;
}

std::string WordPieces::decode(std::span<const Token> ids) const {
  std::string text;
  for (const Token id : ids) {
    const std::string entry = piece(id);
    if (id == bos_ || id == eos_) continue;
    if (entry.starts_with("##") && !text.empty())
      text += entry.substr(2);
    else
      text += (text.empty() ? "" : " ") + entry;
  }
  return text;
}

std::string WordPieces::piece(Token id) const {
  if (id < 0 || id >= size())
    throw DataError(join_text("vocabulary: id ", id, " is outside [0, ", size(), ")"));
  return model_.pieces[static_cast<std::size_t>(id)];
}

std::string WordPieces::serialized() const {
  std::string text = heading_of(model_) + "\n";
  for (const auto& piece : model_.pieces) text += piece + "\n";
  return text;
}

std::vector<std::pair<std::string, std::string>> WordPieces::published_files() const {
  std::string vocabulary;
  for (const auto& piece : model_.pieces) vocabulary += piece + "\n";
  const auto setting = [](const char* key, bool on) {
    return std::string(", \"") + key + "\": " + (on ? "true" : "false");
  };
  return {{"vocab.txt", vocabulary},
          {"tokenizer_config.json", "{\"tokenizer_class\": \"BertTokenizer\"" +
                                        setting("do_lower_case", model_.lowercase) +
                                        setting("strip_accents", model_.strip_accents) +
                                        setting("tokenize_chinese_chars", model_.ideographs_apart) + "}\n"}};
}

WordPieceModel WordPieces::parse(std::string_view bytes) {
  std::vector<std::string> lines = split_lines(bytes);
  const std::string heading = lines.empty() ? "" : lines.front();
  for (const bool lowercase : {true, false})
    for (const bool strip_accents : {true, false})
      for (const bool ideographs_apart : {true, false}) {
        WordPieceModel model{{}, lowercase, strip_accents, ideographs_apart};
        if (heading != heading_of(model)) continue;
        model.pieces.assign(lines.begin() + 1, lines.end());
        return model;
      }
  throw DataError("not a vocabulary of word pieces: expected a first line such as '" + heading_of({}) + "'");
}

}  // namespace attnlab
