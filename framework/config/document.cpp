#include "config/document.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "config/assignment.h"
#include "config/overlays.h"
#include "config/parse.h"

namespace attnlab {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

// Reads a whole file into `text`. Returns what went wrong, or an empty text.
std::string read_file(const std::string& file, std::string& text) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) return "is a directory, not a file";
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return std::string("cannot be read: ") + std::strerror(errno ? errno : EIO);
  text.resize(kMaxBytes + 1);
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) return "cannot be read: " + std::string(std::strerror(EIO));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > kMaxBytes) return "is larger than 1 MiB, too large for a config";
  return {};
}

std::string identity_of(const std::string& file) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::weakly_canonical(file, error);
  return error ? file : path.string();
}

SourcePosition start_of(const std::string& file) { return {std::make_shared<const std::string>(file), 1, 1}; }

}  // namespace

// The files being read, outermost first, and all that were read as a base.
struct Tree::Loading {
  std::vector<std::string> open, names, done;
};

Tree Tree::load(const std::vector<std::string>& files, const std::vector<std::string>& assignments) {
  Tree tree;
  Loading loading;
  for (const std::string& file : files) tree.add_file(file, nullptr, loading);
  for (const std::string& assignment : assignments) tree.set(assignment);
  return tree;
}

Tree Tree::parse(std::string_view text, const std::string& file) {
  Tree tree;
  Loading loading;
  tree.add_text(text, file, loading);
  return tree;
}

void Tree::add_file(const std::string& file, const SourcePosition* named_at, Loading& loading) {
  const std::string identity = identity_of(file);
  const auto open = std::find(loading.open.begin(), loading.open.end(), identity);
  if (open != loading.open.end()) {
    std::string chain;
    for (auto i = open - loading.open.begin(); i < std::ssize(loading.names); ++i)
      chain += loading.names[static_cast<std::size_t>(i)] + " -> ";
    damaged_ = true;
    return problems_.add(*named_at, "base files in a circle: " + chain + file);
  }
  if (named_at && std::find(loading.done.begin(), loading.done.end(), identity) != loading.done.end()) return;
  std::string text;
  if (const std::string wrong = read_file(file, text); !wrong.empty()) {
    damaged_ = true;
    if (named_at) return problems_.add(*named_at, "base file '" + file + "' " + wrong);
    seen_.push_back(file);
    return problems_.add(start_of(file), wrong);
  }
  loading.open.push_back(identity);
  loading.names.push_back(file);
  add_text(text, file, loading);
  loading.open.pop_back();
  loading.names.pop_back();
  loading.done.push_back(identity);
  files_.push_back(file);
}

void Tree::add_text(std::string_view text, const std::string& file, Loading& loading) {
  seen_.push_back(file);
  ParsedText parsed = parse_yaml(text, {.file = std::make_shared<const std::string>(file)}, problems_);
  damaged_ |= !parsed.complete;
  ConfigNode& root = parsed.root;
  if (root.type == ConfigNode::Type::null && parsed.complete)
    problems_.add(start_of(file), "the file is empty");
  if (parsed.complete && (root.type == ConfigNode::Type::scalar || root.type == ConfigNode::Type::list))
    problems_.add(root.position, "a config is a section of keys, found " + root.found());
  if (root.type != ConfigNode::Type::map) {
    damaged_ = true;
    return;
  }
  add_bases(root, file, loading);
  std::erase_if(root.entries, [](const ConfigNode::Entry& entry) { return entry.key == "base"; });
  layers_.push_back(std::move(root));
}

void Tree::add_bases(const ConfigNode& root, const std::string& file, Loading& loading) {
  const ConfigNode::Entry* base = root.find("base");
  if (!base) return;
  const bool list = base->value.type == ConfigNode::Type::list;
  for (const ConfigNode& named : list ? base->value.items : std::vector<ConfigNode>{base->value}) {
    if (named.type != ConfigNode::Type::scalar || named.text.empty()) {
      problems_.add(named.position, "'base' must be a file or a list of files, found " + named.found());
      continue;
    }
    const std::filesystem::path path = std::filesystem::path(file).parent_path() / named.text;
    add_file(path.lexically_normal().string(), &named.position, loading);
  }
}

void Tree::set(const std::string& given) {
  const auto placed = placed_assignment(given);
  const std::string& assignment = placed ? placed->assignment : given;
  // Of an option all of the assignment has one place: what it says was not typed so.
  const bool typed = !placed || placed->option == "--set";
  TextOrigin origin{.file = std::make_shared<const std::string>(placed ? placed->option : "--set"),
                    .line = placed ? placed->number : ++assignments_,
                    .one_line = true};
  const TextOrigin line = origin;
  const auto place = [&](std::size_t byte) { return line.at(typed ? assignment : "", byte); };
  const std::size_t equals = assignment.find('=');
  const std::string path = assignment.substr(0, equals);
  const SourcePosition start = place(0);
  if (equals == std::string::npos || path.empty() || path.front() == '.' || path.back() == '.' ||
      path.find("..") != std::string::npos) {
    damaged_ = true;
    return problems_.add(start, "expected a.b=value, found '" + assignment.substr(0, 60) + "'");
  }
  if (path == "base" || path.starts_with("base.")) return problems_.add(start, "'base' stands in files only");
  if (std::count(path.begin(), path.end(), '.') >= static_cast<std::ptrdiff_t>(kMaxDepth))
    return problems_.add(start, "nested deeper than " + std::to_string(kMaxDepth) + " levels");
  origin.column = place(equals + 1).column;
  // A pattern such as *.bias would be an alias in YAML; aliases are refused anyway, so here it is text.
  std::string text = assignment.substr(equals + 1);
  if (text.starts_with('*')) text = "'" + text + "'";
  ParsedText parsed = parse_yaml(text, origin, problems_);
  damaged_ |= !parsed.complete;
  if (!parsed.complete) return;
  // From the innermost key outwards.
  ConfigNode value = std::move(parsed.root);
  if (value.type == ConfigNode::Type::null) value.position = start;
  for (std::size_t end = path.size(); end != std::string::npos && end > 0;) {
    const std::size_t dot = path.rfind('.', end - 1);
    const std::size_t begin = dot == std::string::npos ? 0 : dot + 1;
    ConfigNode section;
    section.type = ConfigNode::Type::map;
    section.position = place(begin);
    section.entries.push_back({path.substr(begin, end - begin), section.position, std::move(value)});
    value = std::move(section);
    end = dot;
  }
  if (!first_assignment_) first_assignment_ = layers_.size();
  layers_.push_back(std::move(value));
}

void Tree::add_to_files(ConfigNode layer) {
  layers_.insert(layers_.begin() + static_cast<std::ptrdiff_t>(first_assignment()), std::move(layer));
  if (first_assignment_) ++*first_assignment_;
}

ConfigNode Tree::take_from(std::size_t first_layer, std::string_view key) {
  Overlays found;
  for (std::size_t i = first_layer; i < layers_.size(); ++i)
    if (const ConfigNode::Entry* entry = layers_[i].find(key))
      found.push_back({&entry->value, entry->position});
  ConfigNode taken = merge(found);
  for (std::size_t i = first_layer; i < layers_.size(); ++i)
    std::erase_if(layers_[i].entries, [key](const ConfigNode::Entry& entry) { return entry.key == key; });
  return taken;
}

std::optional<SourcePosition> Tree::where(std::string_view path) const {
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
    const ConfigNode* node = &*layer;
    const ConfigNode::Entry* entry = nullptr;
    for (std::string_view rest = path; node;) {
      const std::size_t dot = rest.find('.');
      entry = node->find(rest.substr(0, dot));
      if (!entry || dot == std::string_view::npos) break;
      node = &entry->value;
      rest.remove_prefix(dot + 1);
    }
    if (entry) return entry->position;
  }
  return std::nullopt;
}

std::string Tree::locate(std::string_view path) const {
  for (;;) {
    if (const auto position = where(path)) return position->text();
    const std::size_t dot = path.rfind('.');
    if (dot == std::string_view::npos) return start().text();
    path = path.substr(0, dot);
  }
}

SourcePosition Tree::start() const { return start_of(seen_.empty() ? "config" : seen_.front()); }

std::vector<std::string> Tree::file_order() const {
  std::vector<std::string> order = seen_;
  order.push_back("--set");
  return order;
}

}  // namespace attnlab
