// The task `list_ops`: the value of a nested operation on digits, drawn by the released rule. Mode
// `as_released` reads the text as the code of Tay et al. 2020 did, which drops every closing bracket and cuts
// after 512 symbols.
#include <algorithm>
#include <map>
#include <set>

#include "config/registry.h"
#include "core/error.h"
#include "data/labels.h"
#include "data/list_ops.h"
#include "data/task_spec.h"
#include "data/vocabulary.h"

namespace attnlab {
namespace {

enum class Mode { fixed, as_released };
constexpr Index kReleasedCut = 512;

// How often the most frequent answer to a key, learned from one split, is right in another.
class Lookup {
 public:
  void learn(const std::string& key, int answer) { ++counts_[key][answer]; }
  std::optional<int> answer(const std::string& key) const {
    const auto found = counts_.find(key);
    if (found == counts_.end()) return {};
    const auto most = std::max_element(found->second.begin(), found->second.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return most->first;
  }

 private:
  std::map<std::string, std::map<int, Index>> counts_;
};

std::string root_of(const ListExpression& e) { return std::to_string(e.operation); }
std::string root_and_digits(const ListExpression& e) {
  std::vector<int> digits;
  for (const ListExpression& argument : e.arguments)
    if (argument.operation < 0) digits.push_back(argument.digit);
  std::sort(digits.begin(), digits.end());
  std::string key = root_of(e) + (digits.size() < e.arguments.size() ? "+" : "=");
  for (const int digit : digits) key += std::to_string(digit);
  return key;
}

struct ListOps final : TaskSpec {
  ListRule rule{6, 5, 0.25, 60};
  Index min_length = 6, train = 20000, valid = 1000, test = 1000, seed = 1;
  Mode mode = Mode::fixed;

  void fields(Fields& f) override {
    f("max_depth", rule.max_depth, at_least(1), "of nesting; 10 in the Long Range Arena");
    f("max_arguments", rule.max_arguments, at_least(2), "of one operation; 10 in the Long Range Arena");
    f("operator_share", rule.operator_share, between(0, 1), "of nodes above the deepest that are operations");
    f("min_length", min_length, at_least(1), "shorter ones are drawn again; 501 in the Long Range Arena",
      "symbols");
    f("max_length", rule.max_length, at_least(3), "longer ones are drawn again; 1999 in the Long Range Arena",
      "symbols");
    f.choice("mode", mode, {{"fixed", Mode::fixed}, {"as_released", Mode::as_released}},
             "whole text, or without closing brackets and cut after 512 symbols");
    f("train", train, at_least(1), "size of the split; all examples differ", "examples");
    f("valid", valid, at_least(1), "size of the split", "examples");
    f("test", test, at_least(1), "size of the split", "examples");
    f("seed", seed, at_least(0), "of the data alone, so that runs of several seeds share it");
    f.check(min_length <= rule.max_length, "min_length", "is above max_length");
  }

  Task load(const std::filesystem::path&) const override {
    Task task;
    std::vector<std::string> symbols(std::begin(kListOperators), std::end(kListOperators));
    symbols.emplace_back("]");
    for (const auto& digit : numbered(10)) symbols.push_back(digit);
    task.source = std::make_shared<Vocabulary>(TokenUnit::word, symbols);
    task.target = std::make_shared<Labels>(numbered(10));
    task.labels = 1;
    task.metrics = {"accuracy"};
    task.best_score = 1.0;
    task.tests.push_back({"test", {}});
    std::set<std::string> seen;
    const auto test_lists = draw(task, task.tests.front().corpus, "data.list_ops.test", test, seen);
    draw(task, task.valid, "data.list_ops.valid", valid, seen);
    const auto train_lists = draw(task, task.train, "data.list_ops.train", train, seen);
    task.baselines = {{"majority", majority_accuracy(task.train, task.tests.front().corpus)},
                      {"root operator", lookup_accuracy(train_lists, test_lists, false)},
                      {"root operator and its digits", lookup_accuracy(train_lists, test_lists, true)}};
    return task;
  }

  std::optional<FramedText> frame(const Tokenizer& source, std::vector<Token> ids) const override {
    require_known(source, ids);
    if (mode == Mode::fixed) return between_symbols(source, std::move(ids));
    std::erase(ids, source.encode("]").front());
    return between_symbols(source, std::move(ids), kReleasedCut + 2);
  }

 private:
  std::vector<ListExpression> draw(const Task& task, Corpus& corpus, const char* stream, Index count,
                                   std::set<std::string>& seen) const {
    std::vector<ListExpression> lists;
    for (std::uint64_t n = 0; static_cast<Index>(lists.size()) < count; ++n) {
      if (n > 10000 + 2000 * static_cast<std::uint64_t>(count))
        throw DataError(join_text("list_ops: hardly any expression has ", min_length, " to ", rule.max_length,
                                  " symbols; raise max_depth or max_arguments, or widen the lengths"));
      auto list =
          draw_list_expression(rule, Random(static_cast<std::uint64_t>(seed), stream_name(stream), n));
      if (!list || list->length() < min_length || !seen.insert(list->text()).second) continue;
      add(task, corpus, *list);
      lists.push_back(std::move(*list));
    }
    return lists;
  }

  void add(const Task& task, Corpus& corpus, const ListExpression& list) const {
    Example example;
    const std::string text = list.text();
    example.source = frame(*task.source, task.source->encode(text))->ids;
    example.target = label_target({static_cast<Token>(list.value())});
    corpus.examples.push_back(std::move(example));
    corpus.sources.push_back(text);
    corpus.references.push_back(std::to_string(list.value()));
  }

  static double lookup_accuracy(const std::vector<ListExpression>& train,
                                const std::vector<ListExpression>& test, bool digits) {
    Lookup fine, coarse;
    for (const auto& list : train) {
      fine.learn(root_and_digits(list), list.value());
      coarse.learn(root_of(list), list.value());
    }
    Index right = 0;
    for (const auto& list : test) {
      auto answer = digits ? fine.answer(root_and_digits(list)) : std::nullopt;
      if (!answer) answer = coarse.answer(root_of(list));
      right += answer && *answer == list.value() ? 1 : 0;
    }
    return static_cast<double>(right) / static_cast<double>(std::max<std::size_t>(test.size(), 1));
  }
};

const Registered<TaskSpec, ListOps> registered{"list_ops",
                                               "generated: the value of nested operations on digits"};

}  // namespace
}  // namespace attnlab
