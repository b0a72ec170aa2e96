// Configuration as given: files, what they name under `base:`, and --set, in order of increasing precedence.
// Loading never throws on bad input; what is wrong is kept and reported by read_spec together with everything
// else.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/node.h"
#include "config/position.h"
#include "config/problems.h"

namespace attnlab {

class Tree {
 public:
  // Files from left to right, then the assignments ("a.b=value", the value is YAML). A file may name others
  // under `base:` (a path relative to itself, or a list of them); they come below it, each only once.
  static Tree load(const std::vector<std::string>& files, const std::vector<std::string>& assignments = {});
  // One YAML text; `file` is its name in messages, and `base:` is relative to it.
  static Tree parse(std::string_view text, const std::string& file = "text");
  // One more assignment on top.
  void set(const std::string& assignment);
  // One more layer on top: a map from a file that was read before.
  void add(ConfigNode layer) { layers_.push_back(std::move(layer)); }
  // The same on top of the files, so that assignments still win.
  void add_to_files(ConfigNode layer);
  // Takes a key of the top level out of every layer; returns what they say of it together (see merge).
  ConfigNode take(std::string_view key) { return take_from(0, key); }
  // Takes it out of the assignments, and of what was added on top of them.
  ConfigNode take_assigned(std::string_view key) { return take_from(first_assignment(), key); }

  // Where the key with this dotted path was set last, if it was.
  std::optional<SourcePosition> where(std::string_view path) const;
  // "file:line:column" of the path, else of the closest section around it that was given, else of the first
  // file.
  std::string locate(std::string_view path) const;
  // Every file that was read, bases included, in order of precedence.
  const std::vector<std::string>& files() const { return files_; }

  // For the reader: maps in order of increasing precedence; what went wrong; whether text was lost by a
  // syntax error.
  const std::vector<ConfigNode>& layers() const { return layers_; }
  const Problems& problems() const { return problems_; }
  bool damaged() const { return damaged_; }
  SourcePosition start() const;
  std::vector<std::string> file_order() const;

 private:
  struct Loading;
  void add_file(const std::string& file, const SourcePosition* named_at, Loading& loading);
  void add_text(std::string_view text, const std::string& file, Loading& loading);
  void add_bases(const ConfigNode& root, const std::string& file, Loading& loading);
  std::size_t first_assignment() const { return first_assignment_.value_or(layers_.size()); }
  ConfigNode take_from(std::size_t first_layer, std::string_view key);

  std::vector<ConfigNode> layers_;
  std::optional<std::size_t> first_assignment_;  // the lowest layer that is one
  std::vector<std::string> files_;
  std::vector<std::string> seen_;  // every name that may occur in a message
  Problems problems_;
  int assignments_ = 0;
  bool damaged_ = false;
};

}  // namespace attnlab
