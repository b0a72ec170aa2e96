#include "data/byte_pairs.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <queue>

#include "core/error.h"
#include "data/utf8.h"

namespace attnlab {
namespace {

using Json = nlohmann::json;
using Merges = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kFormat = "attnlab byte pairs 1";

// The printable character that stands for a byte in the published files: itself where it is printable, and
// one of those from U+0100 on otherwise.
char32_t printable(unsigned byte) {
  const auto itself = [](unsigned b) {
    return (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || (b >= 0xae && b <= 0xff);
  };
  if (itself(byte)) return byte;
  char32_t next = 0x100;
  for (unsigned b = 0; b < byte; ++b) next += itself(b) ? 0 : 1;
  return next;
}

// The byte of each such character; nothing for any other one.
std::optional<unsigned char> byte_of(char32_t c) {
  static const std::unordered_map<char32_t, unsigned char> table = [] {
    std::unordered_map<char32_t, unsigned char> all;
    for (unsigned b = 0; b < 256; ++b) all[printable(b)] = static_cast<unsigned char>(b);
    return all;
  }();
  const auto found = table.find(c);
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

std::string utf8_of(char32_t c) {
  std::string text;
  append_utf8(text, c);
  return text;
}

std::uint64_t key_of(Token left, Token right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
         static_cast<std::uint32_t>(right);
}

// A pair that may be merged, as it was when it was found.
struct Candidate {
  Index rank, at;
  Token left, right, merged;
  bool operator<(const Candidate& other) const {  // the queue gives the lowest rank first, then the leftmost
    return rank != other.rank ? rank > other.rank : at > other.at;
  }
};

struct Symbol {
  Token id;
  Index before, after;  // -1: none
};

// tokenizer.json of the package tokenizers: vocab.json and merges.txt cannot say that digits are cut apart.
std::string tokenizer_json(const Json& vocabulary, const Merges& merges) {
  const Json byte_level{
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  const Json digits{{"type", "Digits"}, {"individual_digits", true}};
  Json lines = Json::array();
  for (const auto& [left, right] : merges) lines.push_back(left + " " + right);
  const Json model{{"type", "BPE"},
                   {"dropout", nullptr},
                   {"unk_token", nullptr},
                   {"continuing_subword_prefix", nullptr},
                   {"end_of_word_suffix", nullptr},
                   {"fuse_unk", false},
                   {"byte_fallback", false},
                   {"vocab", vocabulary},
                   {"merges", lines}};
  return Json{{"version", "1.0"},
              {"normalizer", nullptr},
              {"added_tokens", Json::array()},
              {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", Json::array({digits, byte_level})}}},
              {"decoder", byte_level},
              {"model", model}}
             .dump() +
         "\n";
}

}  // namespace

BytePairs::BytePairs(BytePairModel model) : model_(std::move(model)) {
  for (std::size_t i = 0; i < model_.pieces.size(); ++i) {
    if (model_.pieces[i].empty()) continue;
    if (!ids_.emplace(model_.pieces[i], static_cast<Token>(i)).second)
      throw DataError("byte pairs: the entry '" + model_.pieces[i] + "' is given twice");
  }
  for (unsigned b = 0; b < 256; ++b) {
    const auto found = ids_.find(utf8_of(printable(b)));
    bytes_[b] = found == ids_.end() ? -1 : found->second;
  }
  for (std::size_t rank = 0; rank < model_.merges.size(); ++rank) add_merge(rank);
  eos_ = id_of(model_.end, "the end of a text");
  bos_ = model_.begin.empty() ? eos_ : id_of(model_.begin, "the begin of a text");
  unk_ = model_.unknown.empty() ? eos_ : id_of(model_.unknown, "an unknown word");
}

Token BytePairs::id_of(const std::string& piece, const char* what) const {
  const auto found = ids_.find(piece);
  if (found == ids_.end()) throw DataError(join_text("byte pairs: no entry for ", what, ": '", piece, "'"));
  return found->second;
}

void BytePairs::add_merge(std::size_t rank) {
  const auto& [left, right] = model_.merges[rank];
  const Token a = id_of(left, "a part of a merge"), b = id_of(right, "a part of a merge");
  merges_.emplace(key_of(a, b), Merge{static_cast<Index>(rank), id_of(left + right, "a merge")});
}

const BytePairs::Merge* BytePairs::merge_of(Token left, Token right) const {
  const auto found = merges_.find(key_of(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

void BytePairs::encode_word(std::string_view word, std::vector<Token>& ids) const {
  std::vector<Symbol> symbols;
  for (const char c : word)
    if (const Token id = bytes_[static_cast<unsigned char>(c)]; id >= 0) symbols.push_back({id, 0, 0});
  const auto count = static_cast<Index>(symbols.size());
  for (Index i = 0; i < count; ++i) {
    symbols[static_cast<std::size_t>(i)].before = i - 1;
    symbols[static_cast<std::size_t>(i)].after = i + 1 < count ? i + 1 : -1;
  }
  const auto at = [&symbols](Index i) -> Symbol& { return symbols[static_cast<std::size_t>(i)]; };
  std::priority_queue<Candidate> queue;
  const auto offer = [this, &at, &queue](Index i) {
    if (i < 0 || at(i).after < 0) return;
    const Token left = at(i).id, right = at(at(i).after).id;
    if (const Merge* merge = merge_of(left, right)) queue.push({merge->rank, i, left, right, merge->merged});
  };
  for (Index i = 0; i < count; ++i) offer(i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    const Index next = at(best.at).id == best.left ? at(best.at).after : -1;
    if (next < 0 || at(next).id != best.right) continue;  // another merge took a part of it
    at(best.at).id = best.merged;
    at(best.at).after = at(next).after;
    if (at(next).after >= 0) at(at(next).after).before = best.at;
    at(next).id = -1;
    offer(at(best.at).before);
    offer(best.at);
  }
  for (Index i = 0; i >= 0 && i < count; i = at(i).after) ids.push_back(at(i).id);
}

std::vector<Token> BytePairs::encode(std::string_view line) const {
  std::vector<Token> ids;
  for (const std::string_view word : byte_pair_words(line, model_.single_digits)) encode_word(word, ids);
  return ids;
}

std::string BytePairs::decode(std::span<const Token> ids) const {
  std::string bytes;
  for (const Token id : ids) {
    const std::string entry = piece(id);
    if (id == bos_ || id == eos_) continue;
    for (const char32_t c : code_points(entry)) {
      if (const auto byte = byte_of(c))
        bytes += static_cast<char>(*byte);
      else
        append_utf8(bytes, c);
    }
  }
  return with_replacements(bytes);
}

std::string BytePairs::piece(Token id) const {
  if (id < 0 || id >= size())
    throw DataError(join_text("vocabulary: id ", id, " is outside [0, ", size(), ")"));
  return model_.pieces[static_cast<std::size_t>(id)];
}

std::string BytePairs::serialized() const {
  Json merges = Json::array();
  for (const auto& [left, right] : model_.merges) merges.push_back({left, right});
  return Json{{"format", kFormat},
              {"pieces", model_.pieces},
              {"merges", merges},
              {"begin", model_.begin},
              {"end", model_.end},
              {"unknown", model_.unknown},
              {"single_digits", model_.single_digits}}
             .dump() +
         "\n";
}

std::vector<std::pair<std::string, std::string>> BytePairs::published_files() const {
  Json vocabulary = Json::object();
  for (std::size_t id = 0; id < model_.pieces.size(); ++id)
    if (!model_.pieces[id].empty()) vocabulary[model_.pieces[id]] = id;
  if (model_.single_digits) return {{"tokenizer.json", tokenizer_json(vocabulary, model_.merges)}};
  std::string merges = "#version: 0.2\n";
  for (const auto& [left, right] : model_.merges) merges += left + " " + right + "\n";
  return {{"vocab.json", vocabulary.dump() + "\n"}, {"merges.txt", merges}};
}

BytePairModel BytePairs::parse(const std::string& bytes) {
  const Json root = Json::parse(bytes, nullptr, false);
  if (!root.is_object() || root.value("format", "") != kFormat)
    throw DataError("not a vocabulary of byte pairs: expected JSON with the format '" + std::string(kFormat) +
                    "'");
  try {
    BytePairModel model{root.at("pieces").get<std::vector<std::string>>(),
                        {},
                        root.at("single_digits").get<bool>(),
                        root.at("begin").get<std::string>(),
                        root.at("end").get<std::string>(),
                        root.at("unknown").get<std::string>()};
    for (const auto& merge : root.at("merges"))
      model.merges.emplace_back(merge.at(0).get<std::string>(), merge.at(1).get<std::string>());
    return model;
  } catch (const Json::exception& error) {
    throw DataError(std::string("a damaged vocabulary of byte pairs: ") + error.what());
  }
}

}  // namespace attnlab
