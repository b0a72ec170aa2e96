#include "config/parse.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace attnlab {
namespace {

// Turns yaml-cpp's marks (line and byte from 0) into positions that count characters.
class Marks {
 public:
  Marks(std::string_view text, const TextOrigin& origin) : origin_(origin), characters_(text.size() + 1) {
    lines_.push_back(0);
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool continues = (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80;
      characters_[i + 1] = characters_[i] + (continues ? 0 : 1);
      if (text[i] == '\n') lines_.push_back(i + 1);
    }
  }

  std::size_t line_count() const { return lines_.size(); }
  std::size_t line_begin(std::size_t line) const { return lines_[line]; }

  // The byte in the whole text; `first_line` is the line where the parsed part began.
  std::size_t byte_of(const YAML::Mark& mark, std::size_t first_line) const {
    return std::min(lines_[line_of(mark, first_line)] + static_cast<std::size_t>(std::max(mark.column, 0)),
                    characters_.size() - 1);
  }

  SourcePosition at(const YAML::Mark& mark, std::size_t first_line) const {
    const std::size_t line = line_of(mark, first_line), byte = byte_of(mark, first_line);
    if (origin_.one_line) return {origin_.file, origin_.line, origin_.column + characters_[byte]};
    const int shift = line == 0 ? origin_.column : 1;
    return {origin_.file, origin_.line + static_cast<int>(line),
            shift + characters_[byte] - characters_[lines_[line]]};
  }

 private:
  std::size_t line_of(const YAML::Mark& mark, std::size_t first_line) const {
    return std::min(first_line + static_cast<std::size_t>(std::max(mark.line, 0)), lines_.size() - 1);
  }

  TextOrigin origin_;
  std::vector<int> characters_;  // before each byte
  std::vector<std::size_t> lines_;
};

// Whether the quoted scalar that begins at `begin` is closed. yaml-cpp takes the end of the file for a
// closing quote.
bool is_closed(std::string_view text, std::size_t begin) {
  const char quote = text[begin];
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (text[i] == quote) {
      if (quote == '"' || i + 1 == text.size() || text[i + 1] != quote) return true;
      ++i;
    }
  }
  return false;
}

// Thrown to leave the parser after the reason has been reported.
struct Stop {};

std::string given_twice(const std::string& key, int first_line) {
  return "key '" + key.substr(0, 60) + "' given twice, first in line " + std::to_string(first_line);
}

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, const Marks& marks, std::size_t first_line, Problems& problems)
      : text_(text), marks_(marks), first_line_(first_line), problems_(problems) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) refuse(at(mark), "a second document starts here; a config is one document");
    if (documents_ > 1) throw Stop{};
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    complete(node(ConfigNode::Type::null, mark));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(at(mark), "aliases (*name) are not supported; write the value out, or share it through base:");
    if (!open_.empty() && open_.back().has_key) open_.back().keep = false;
    complete(node(ConfigNode::Type::null, mark));
  }
  void OnAnchor(const YAML::Mark& mark, const std::string&) override {
    refuse(at(mark), "anchors (&name) are not supported; write the value out, or share it through base:");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    ConfigNode scalar = node(ConfigNode::Type::scalar, mark);
    scalar.text = value;
    scalar.quoted = tag == "!";
    const std::size_t begin = marks_.byte_of(mark, first_line_);
    const char first = begin < text_.size() ? text_[begin] : ' ';
    const bool in_quotes = first == '"' || first == '\'';
    refuse_tag(mark, scalar.quoted && !in_quotes && first != '|' && first != '>' ? "!name" : tag);
    if (scalar.quoted && in_quotes && !is_closed(text_, begin)) {
      refuse(at(mark), "invalid YAML: a quote is not closed");
      throw Stop{};
    }
    complete(std::move(scalar), true);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(ConfigNode::Type::list, mark, tag);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(ConfigNode::Type::map, mark, tag);
  }
  void OnMapEnd() override { close(); }

  // Forgets a scalar that a syntax error follows: it may have run on too far.
  void drop_last_scalar() {
    if (!last_was_scalar_ || open_.empty()) return;
    ConfigNode& node = open_.back().node;
    if (node.type == ConfigNode::Type::list && !node.items.empty()) node.items.pop_back();
    if (node.type == ConfigNode::Type::map && !open_.back().has_key && !node.entries.empty())
      node.entries.pop_back();
  }

  // yaml-cpp takes brackets that are never closed for keys, so this is said only of text that it understood.
  void report_odd_keys() {
    for (const auto& [position, message] : odd_keys_) refuse(position, message);
  }

  // What was read, also if the parser stopped half way.
  ConfigNode take() {
    while (!open_.empty()) close();
    return std::move(root_);
  }

 private:
  struct Frame {
    ConfigNode node;
    bool has_key = false;  // a key of a map was read and its value was not
    bool keep = true;      // false: the key was refused
    ConfigNode::Entry entry{};
    std::map<std::string, int> keys{};  // those seen, with their lines
  };

  SourcePosition at(const YAML::Mark& mark) const { return marks_.at(mark, first_line_); }
  void refuse(const SourcePosition& position, const std::string& message) {
    problems_.add(position, message);
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!") refuse(at(mark), "tags (!name) are not supported");
  }

  ConfigNode node(ConfigNode::Type type, const YAML::Mark& mark) const {
    ConfigNode made;
    made.type = type;
    made.position = at(mark);
    return made;
  }

  void open(ConfigNode::Type type, const YAML::Mark& mark, const std::string& tag) {
    last_was_scalar_ = false;
    refuse_tag(mark, tag);
    if (open_.size() >= kMaxDepth) {
      refuse(at(mark), "nested deeper than " + std::to_string(kMaxDepth) + " levels");
      throw Stop{};
    }
    open_.push_back({node(type, mark)});
  }

  void close() {
    ConfigNode closed = std::move(open_.back().node);
    open_.pop_back();
    complete(std::move(closed));
  }

  void complete(ConfigNode value, bool is_scalar = false) {
    last_was_scalar_ = is_scalar;
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Frame& frame = open_.back();
    if (frame.node.type == ConfigNode::Type::list) {
      frame.node.items.push_back(std::move(value));
    } else if (!frame.has_key) {
      take_key(frame, value);
    } else {
      frame.has_key = false;
      if (value.type == ConfigNode::Type::null)
        value.position = frame.entry.position;  // nothing there to point at
      frame.entry.value = std::move(value);
      if (frame.keep) frame.node.entries.push_back(std::move(frame.entry));
    }
  }

  void take_key(Frame& frame, const ConfigNode& key) {
    frame.has_key = true;
    frame.keep = false;
    frame.entry = {key.text, key.position, {}};
    if (key.type != ConfigNode::Type::scalar) {
      odd_keys_.emplace_back(key.position, "a key must be text, found " + key.found());
    } else if (key.text == "<<" && !key.quoted) {
      refuse(key.position, "merge keys (<<) are not supported; share values through base:");
    } else {
      const auto [first, is_new] = frame.keys.emplace(key.text, key.position.line);
      frame.keep = is_new;
      if (!is_new) refuse(key.position, given_twice(key.text, first->second));
    }
  }

  std::string_view text_;
  const Marks& marks_;
  std::size_t first_line_;
  Problems& problems_;
  std::vector<Frame> open_;
  ConfigNode root_;
  std::vector<std::pair<SourcePosition, std::string>> odd_keys_;
  int documents_ = 0;
  bool last_was_scalar_ = false;
};

// yaml-cpp's words for the commonest slips say little to a person.
std::string explain(const std::string& message) {
  using namespace YAML::ErrorMsg;
  if (message == UNKNOWN_ANCHOR || message == ALIAS_NOT_FOUND || message == CHAR_IN_ALIAS)
    return "a leading * starts an alias, which is not supported; put text that begins with * in quotes";
  if (message == ANCHOR_NOT_FOUND || message == CHAR_IN_ANCHOR)
    return "a leading & starts an anchor, which is not supported; put text that begins with & in quotes";
  if (message == END_OF_MAP || message == END_OF_SEQ)
    return "invalid YAML: wrong indentation, or ':' missing after a key";
  if (message == END_OF_MAP_FLOW) return "invalid YAML: '{' without '}', or ',' missing in it";
  if (message == END_OF_SEQ_FLOW) return "invalid YAML: '[' without ']', or ',' missing in it";
  if (message == FLOW_END) return "invalid YAML: '}' or ']' without its opening bracket";
  if (message == MAP_VALUE)
    return "invalid YAML: unexpected ':'; text that contains ': ' needs quotes, or the line before lacks its "
           "own ':'";
  if (message == EOF_IN_SCALAR) return "invalid YAML: a quote is not closed";
  if (message == UNKNOWN_TOKEN) return "invalid YAML: put text that begins with this character in quotes";
  return "invalid YAML: " + message;
}

// The next line after `line` that starts a key at the left margin.
std::size_t next_key_line(std::string_view text, const Marks& marks, std::size_t line) {
  for (++line; line < marks.line_count(); ++line) {
    const std::string_view rest = text.substr(marks.line_begin(line));
    const std::string_view content = rest.substr(0, rest.find('\n'));
    const char first = content.empty() ? ' ' : content[0];
    const bool starts = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '_';
    if (starts && content.find(':') != std::string_view::npos) break;
  }
  return line;
}

// Adds what was read after a syntax error to what was read before it.
void append(ConfigNode& root, ConfigNode more, Problems& problems) {
  if (root.type != ConfigNode::Type::map) {
    root = std::move(more);
    return;
  }
  for (ConfigNode::Entry& entry : more.entries) {
    if (const ConfigNode::Entry* first = root.find(entry.key))
      problems.add(entry.position, given_twice(entry.key, first->position.line));
    else
      root.entries.push_back(std::move(entry));
  }
}

// Parses from `first_line` on. Returns the line of a syntax error, or the number of lines if there was none.
std::size_t parse_part(std::string_view text, const Marks& marks, std::size_t first_line, ParsedText& parsed,
                       Problems& problems, bool report_syntax) {
  TreeBuilder builder(text, marks, first_line, problems);
  std::size_t failed = marks.line_count();
  try {
    std::istringstream stream{std::string(text.substr(marks.line_begin(first_line)))};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    builder.report_odd_keys();
  } catch (const YAML::Exception& error) {
    const SourcePosition position = marks.at(error.mark, first_line);
    if (report_syntax) problems.add(position, explain(error.msg));
    failed = first_line + static_cast<std::size_t>(std::max(error.mark.line, 0));
    parsed.complete = false;
    builder.drop_last_scalar();
  } catch (const Stop&) {
    parsed.complete = false;
  }
  append(parsed.root, builder.take(), problems);
  return failed;
}

}  // namespace

ParsedText parse_yaml(std::string_view text, const TextOrigin& origin, Problems& problems) {
  const CheckedText checked = check_text(text, origin, problems);
  const Marks marks(checked.text, origin);
  ParsedText parsed{.complete = checked.clean};
  constexpr int kMostParts = 20;
  std::size_t line = 0;
  for (int part = 0; part < kMostParts && line < marks.line_count(); ++part) {
    // A refused character may be the cause of a syntax error; it was reported.
    const std::size_t failed = parse_part(checked.text, marks, line, parsed, problems, checked.clean);
    if (failed >= marks.line_count() || origin.one_line) break;
    line = next_key_line(checked.text, marks, std::max(failed, line));
  }
  return parsed;
}

}  // namespace attnlab
