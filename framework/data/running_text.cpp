// The task `text`: running text for language models, tokenised and cut into blocks.
#include <algorithm>

#include "config/registry.h"
#include "core/error.h"
#include "data/data_set.h"
#include "data/encode.h"
#include "data/files.h"
#include "data/task_spec.h"
#include "data/tokenizer_spec.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

enum class LineEnd { symbol, newline };

struct RunningTextSpec final : TaskSpec {
  std::string folder, train = "input.txt", valid, test;
  double valid_fraction = 0.1, test_fraction = 0;
  std::shared_ptr<TokenizerSpec> tokenizer = Registry<TokenizerSpec>::make("character");
  LineEnd line_end = LineEnd::symbol;
  Index block = 128;

  void fields(Fields& f) override {
    f("folder", folder, "of the files, within data.root unless absolute: the name of a data set, mostly");
    f("train", train, "file of the training text, or of the whole");
    f("valid", valid, "file of the validation text; empty: the end of the whole");
    f("test", test, "file of the test text; empty: the end of the whole, after the validation text");
    f("valid_fraction", valid_fraction, between(0, 1, upper_exclusive),
      "of the whole text, where valid is empty");
    f("test_fraction", test_fraction, between(0, 1, upper_exclusive),
      "of the whole text, where test is empty");
    f.kind("tokenizer", tokenizer, "vocabulary, learned from the training text");
    f.choice("line_end", line_end, {{"symbol", LineEnd::symbol}, {"newline", LineEnd::newline}},
             "what ends a line: </s>, or the line break itself as text");
    f("block", block, at_least(1), "tokens that the model predicts in one go", "tokens");
    f.check(tokenizer != nullptr, "tokenizer", "must be set");
    f.check(valid_fraction + test_fraction < 1, "test_fraction", "leaves nothing to train on");
  }

  Task load(const fs::path& root) const override {
    Lines whole = read_text(root, train);
    const std::size_t count = whole.size();
    Lines test_lines = test.empty() ? cut_end(whole, test_fraction) : read_text(root, test);
    // The fraction is of the whole text, part of which is gone by now.
    const double rest = test.empty() ? 1 - test_fraction : 1;
    Lines valid_lines = valid.empty() ? cut_end(whole, valid_fraction / rest) : read_text(root, valid);
    if (test.empty()) check_cut(test_lines, "test", test_fraction, root, count);
    if (valid.empty()) check_cut(valid_lines, "valid", valid_fraction, root, count);
    if (whole.empty()) throw DataError(train + ": no line is left to train on");
    Task task;
    task.target = learned_tokenizer(*tokenizer, whole, root / "cache" / "vocabularies");
    if (line_end == LineEnd::newline) require_line_breaks(*task.target);
    task.metrics = {"perplexity"};
    task.train = blocks(*task.target, whole, "train", task.notes);
    task.valid = blocks(*task.target, valid_lines, "valid", task.notes);
    if (!test_lines.empty())
      task.tests.push_back({"test", blocks(*task.target, test_lines, "test", task.notes)});
    task.notes.push_back(join_text("vocabulary: ", task.target->size(), " entries"));
    return task;
  }

  std::vector<TextSplit> texts(const fs::path& root) const override {
    std::vector<TextSplit> splits;
    for (const std::string& name : {train, valid, test}) {
      if (!name.empty()) splits.push_back({name, {expected_data_file(root, folder, name)}});
    }
    return splits;
  }
  bool ends_lines_with_newline() const override { return line_end == LineEnd::newline; }
  Index overlong_words() const override { return 100000; }  // a paragraph a line is usual

 private:
  Lines read_text(const fs::path& root, const std::string& name) const {
    const fs::path path = find_data_file(root, folder, name);
    Lines lines = read_lines(path);
    if (lines.empty()) throw DataError(path.string() + ": the file is empty");
    if (line_end == LineEnd::newline) {
      for (std::string& line : lines) line += '\n';
    }
    return lines;
  }

  // Lines are tokenised one by one, so a line must have the ids that it has after another one. What
  // byte_pairs would join over a line break (blank lines, indentation) stays cut there: results that are kept
  // hang on it.
  static void require_line_breaks(const Tokenizer& words) {
    if (words.decode(words.encode("\n")) != "\n")
      throw DataError("text: the tokenizer '" + words.name() + "' loses line breaks; use line_end: symbol");
    std::vector<Token> by_lines = words.encode("a\n");
    for (const Token id : words.encode("b")) by_lines.push_back(id);
    if (by_lines != words.encode("a\nb"))
      throw DataError(
          "text: the tokenizer '" + words.name() +
          "' writes the begin of a text otherwise than what follows a line break; use line_end: symbol");
  }

  // Takes that share of the bytes off the end, whole lines.
  static Lines cut_end(Lines& lines, double fraction) {
    double bytes = 0, kept = 0;
    for (const std::string& line : lines) bytes += static_cast<double>(line.size()) + 1;
    std::size_t count = 0;
    while (count < lines.size() && kept < bytes * (1 - fraction)) {
      kept += static_cast<double>(lines[count++].size()) + 1;
    }
    Lines end(lines.begin() + static_cast<std::ptrdiff_t>(count), lines.end());
    lines.resize(count);
    return end;
  }

  // A split that is asked for has lines, or early stopping and scores would do without it in silence.
  void check_cut(const Lines& cut, const std::string& split, double fraction, const fs::path& root,
                 std::size_t count) const {
    if (fraction > 0 && cut.empty())
      throw DataError(join_text(
          find_data_file(root, folder, train).string(), ": ", split, "_fraction ", fraction, " of ", count,
          " lines is no whole line; break the text into lines, or set ", split, " to a file"));
  }

  Corpus blocks(const Tokenizer& words, const Lines& lines, const std::string& name, Lines& notes) const {
    std::vector<Token> all{words.eos()};  // so that the first token is predicted, too
    for (const std::vector<Token>& ids : encode_lines(words, lines)) {
      all.insert(all.end(), ids.begin(), ids.end());
      if (line_end == LineEnd::symbol) all.push_back(words.eos());
    }
    Corpus corpus;
    for (std::size_t begin = 0; begin + 1 < all.size(); begin += static_cast<std::size_t>(block)) {
      const std::size_t end = std::min(all.size(), begin + static_cast<std::size_t>(block) + 1);
      corpus.examples.push_back({{},
                                 {all.begin() + static_cast<std::ptrdiff_t>(begin),
                                  all.begin() + static_cast<std::ptrdiff_t>(end)}});
    }
    notes.push_back(join_text(name, ": ", all.size() - 1, " tokens in ", corpus.examples.size(), " blocks"));
    return corpus;
  }
};

const Registered<TaskSpec, RunningTextSpec> registered{"text", "running text for language models, in blocks"};

}  // namespace
}  // namespace attnlab
