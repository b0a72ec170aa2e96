#include "data/labels.h"

#include <algorithm>
#include <map>

#include "config/registry.h"
#include "core/error.h"
#include "data/files.h"
#include "data/tokenizer_spec.h"

namespace attnlab {
namespace {

constexpr std::string_view kHeader = "attnlab labels 1";

struct LabelsSpec final : TokenizerSpec {
  void fields(Fields&) override {}
  std::string learn(const std::vector<std::string>& lines) const override {
    std::vector<std::string> names = lines;
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return Labels(names).serialized();
  }
  std::shared_ptr<const Tokenizer> parse(std::string bytes) const override {
    return std::make_shared<Labels>(Labels::parse(bytes));
  }
};

const Registered<TokenizerSpec, LabelsSpec> registered{"labels", "names of classes, one a line"};

}  // namespace

Labels::Labels(const std::vector<std::string>& names) : names_(names) {
  unk_ = -1;
  bos_ = eos_ = -2;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool fresh = ids_.emplace(names[i], static_cast<Token>(i)).second;
    if (!fresh || names[i].empty() || names[i].find('\n') != std::string::npos)
      throw DataError(
          join_text("labels: name ", i, " ('", names[i], "') is empty, given twice, or has a line break"));
  }
}

Labels Labels::parse(std::string_view bytes) {
  std::vector<std::string> lines = split_lines(bytes);
  if (lines.empty() || lines.front() != kHeader)
    throw DataError(join_text("not a file of labels: expected a first line '", kHeader, "'"));
  return Labels({lines.begin() + 1, lines.end()});
}

std::vector<Token> Labels::encode(std::string_view line) const {
  const auto found = ids_.find(std::string(line));
  if (found == ids_.end()) {
    std::string known;
    for (const auto& name : names_) known += (known.empty() ? "" : ", ") + name;
    if (known.size() > 200) known = known.substr(0, known.rfind(", ", 200)) + ", …";
    throw DataError("no label is named '" + std::string(line.substr(0, 60)) + "'; there are: " + known);
  }
  return {found->second};
}

std::string Labels::decode(std::span<const Token> ids) const {
  std::string text;
  for (const Token id : ids) text += (text.empty() ? "" : " ") + piece(id);
  return text;
}

std::string Labels::piece(Token id) const {
  if (id < 0 || id >= size()) throw DataError(join_text("labels: id ", id, " is outside [0, ", size(), ")"));
  return names_[static_cast<std::size_t>(id)];
}

std::string Labels::serialized() const {
  std::string text = std::string(kHeader) + "\n";
  for (const auto& name : names_) text += name + "\n";
  return text;
}

std::vector<std::string> numbered(Index count) {
  std::vector<std::string> names;
  for (Index i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

std::vector<Token> label_target(const std::vector<Token>& labels) {
  std::vector<Token> target{0};
  target.insert(target.end(), labels.begin(), labels.end());
  return target;
}

double majority_accuracy(const Corpus& train, const Corpus& test) {
  std::map<Token, Index> counts;
  for (const Example& example : train.examples)
    for (std::size_t i = 1; i < example.target.size(); ++i) ++counts[example.target[i]];
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  Index right = 0, all = 0;
  for (const Example& example : test.examples)
    for (std::size_t i = 1; i < example.target.size(); ++i, ++all)
      right += most != counts.end() && example.target[i] == most->first ? 1 : 0;
  return all == 0 ? 0 : static_cast<double>(right) / static_cast<double>(all);
}

}  // namespace attnlab
