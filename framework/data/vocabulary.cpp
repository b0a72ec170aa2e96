#include "data/vocabulary.h"

#include <algorithm>

#include "core/error.h"
#include "data/files.h"
#include "data/utf8.h"

namespace attnlab {
namespace {

constexpr std::string_view kHeader = "attnlab vocabulary 1 ";
constexpr std::string_view kSpace = " \t\n\r\v\f";

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t begin = line.find_first_not_of(kSpace);
    if (begin == std::string_view::npos) return out;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(kSpace), line.size());
    out.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

std::vector<std::string_view> units(TokenUnit unit, std::string_view line) {
  return unit == TokenUnit::word ? words(line) : characters(line);
}

// Backslashes, and perhaps an n after them: how a line break is written, and all that could be taken for one.
bool like_escape(std::string_view entry) {
  if (!entry.starts_with('\\')) return false;
  const std::size_t rest = std::min(entry.find_first_not_of('\\'), entry.size());
  return rest == entry.size() || entry.substr(rest) == "n";
}

// One entry a line, so a line break is written as \n; what looks like it has one more backslash in front.
std::string escaped(const std::string& entry) {
  if (entry == "\n") return "\\n";
  return like_escape(entry) ? "\\" + entry : entry;
}
std::string unescaped(const std::string& line) {
  if (line == "\\n") return "\n";
  return line.starts_with("\\\\") && like_escape(line) ? line.substr(1) : line;
}

}  // namespace

Vocabulary::Vocabulary(TokenUnit unit, const std::vector<std::string>& entries) : unit_(unit) {
  entries_ = {"<unk>", "<s>", "</s>"};
  entries_.insert(entries_.end(), entries.begin(), entries.end());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const bool fresh = ids_.emplace(entries_[i], static_cast<Token>(i)).second;
    if (!fresh || entries_[i].empty()) {
      throw DataError(join_text("vocabulary: entry ", i, " ('", entries_[i], "') is empty or given twice"));
    }
  }
}

Vocabulary Vocabulary::learn(TokenUnit unit, const std::vector<std::string>& lines, Index min_count,
                             Index max_size) {
  std::unordered_map<std::string, Index> counts;
  for (const std::string& line : lines) {
    for (const std::string_view piece : units(unit, line)) ++counts[std::string(piece)];
  }
  for (const char* const special : {"<unk>", "<s>", "</s>"}) counts.erase(special);
  std::vector<std::pair<std::string, Index>> sorted(counts.begin(), counts.end());
  std::erase_if(sorted, [min_count](const auto& entry) { return entry.second < min_count; });
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (max_size > 0 && static_cast<Index>(sorted.size()) > max_size) {
    sorted.resize(static_cast<std::size_t>(max_size));
  }
  std::vector<std::string> entries;
  for (const auto& [entry, count] : sorted) entries.push_back(entry);
  return Vocabulary(unit, entries);
}

Vocabulary Vocabulary::parse(std::string_view bytes) {
  std::vector<std::string> lines = split_lines(bytes);
  if (lines.size() < 4 || !lines[0].starts_with(kHeader)) {
    throw DataError(join_text("not a vocabulary file: expected a first line '", kHeader, "word|character'"));
  }
  const std::string unit = lines[0].substr(kHeader.size());
  if (unit != "word" && unit != "character") {
    throw DataError("vocabulary file: unit is '" + unit + "', expected word or character");
  }
  if (lines[1] != "<unk>" || lines[2] != "<s>" || lines[3] != "</s>") {
    throw DataError("vocabulary file: lines 2 to 4 must be <unk>, <s>, </s>");
  }
  std::vector<std::string> entries;
  for (std::size_t i = 4; i < lines.size(); ++i) entries.push_back(unescaped(lines[i]));
  return Vocabulary(unit == "word" ? TokenUnit::word : TokenUnit::character, entries);
}

std::vector<Token> Vocabulary::encode(std::string_view line) const {
  std::vector<Token> ids;
  for (const std::string_view piece : units(unit_, line)) {
    const auto found = ids_.find(std::string(piece));
    const bool special = found != ids_.end() && found->second <= eos_;
    ids.push_back(found == ids_.end() || special ? unk_ : found->second);
  }
  return ids;
}

std::string Vocabulary::decode(std::span<const Token> ids) const {
  std::string out;
  for (const Token id : ids) {
    if (id == bos_ || id == eos_) continue;
    if (unit_ == TokenUnit::word && !out.empty()) out += ' ';
    out += piece(id);
  }
  return out;
}

std::string Vocabulary::piece(Token id) const {
  if (id < 0 || id >= size()) {
    throw DataError(join_text("vocabulary: id ", id, " is outside [0, ", size(), ")"));
  }
  return entries_[static_cast<std::size_t>(id)];
}

std::string Vocabulary::serialized() const {
  std::string out = std::string(kHeader) + name() + "\n";
  for (const std::string& entry : entries_) out += escaped(entry) + "\n";
  return out;
}

}  // namespace attnlab
