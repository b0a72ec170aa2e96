// What tasks that label whole texts let a model read of a text: their own examples, by hand, and what they
// refuse.
#include "data/framed_text.h"

#include "config/spec.h"
#include "core/error.h"
#include "data/files.h"
#include "data/task_spec.h"
#include "support/catch.h"
#include "support/scratch.h"

using namespace attnlab;

namespace {

DataSpec spec_of(const std::string& task, const ScratchFolder& root) {
  DataSpec spec;
  read_spec(Tree::parse("task: " + task + "\nroot: " + root.path().string()), spec);
  return spec;
}

void write_proteins(const ScratchFolder& root) {
  for (const char* name : {"train", "valid", "test_fold_holdout"})
    write_file(root.path() / "remote_homology" / (std::string("remote_homology_") + name + ".json"),
               R"([{"primary": "MKV", "fold_label": 0}, {"primary": "ACDA", "fold_label": 1}])");
}

void write_reviews(const ScratchFolder& root) {
  std::string good, bad;
  for (int i = 0; i < 20; ++i) {
    good += "A fine film\n";
    bad += "a dull film that goes on and on and on\n";
  }
  write_file(root.path() / "sentence-polarity" / "rt-polarity.pos", good);
  write_file(root.path() / "sentence-polarity" / "rt-polarity.neg", bad);
}

FramedText framed(const DataSpec& spec, const Tokenizer& source, const std::string& line) {
  return spec.task->frame(source, source.encode(line)).value();
}

std::vector<std::string> pieces_of(const Tokenizer& words, const std::vector<Token>& ids) {
  std::vector<std::string> pieces;
  for (const Token id : ids) pieces.push_back(words.piece(id));
  return pieces;
}

using Pieces = std::vector<std::string>;

}  // namespace

TEST_CASE("a line of one's own is read as the same line among the examples of the task") {
  const ScratchFolder root;
  write_reviews(root);
  write_proteins(root);
  for (const std::string task :
       {"{kind: polarity, max_tokens: 8}", "{kind: polarity, tokenizer: character}",
        "{kind: list_ops, train: 30, valid: 5, test: 5}",
        "{kind: list_ops, mode: as_released, train: 30, valid: 5, test: 5}",
        "{kind: remote_homology, tests: [remote_homology_test_fold_holdout.json]}"}) {
    CAPTURE(task);
    const DataSpec spec = spec_of(task, root);
    const Task loaded = spec.load();
    REQUIRE(loaded.train.sources.size() == loaded.train.examples.size());
    for (std::size_t i = 0; i < loaded.train.examples.size(); ++i)
      CHECK(framed(spec, *loaded.source, loaded.train.sources[i]).ids == loaded.train.examples[i].source);
  }
}

TEST_CASE("polarity frames a sentence with begin and end, and cuts it to max_tokens") {
  const ScratchFolder root;
  write_reviews(root);
  const DataSpec spec = spec_of("{kind: polarity, max_tokens: 5}", root);
  const auto words = spec.load().source;
  const FramedText whole = framed(spec, *words, "a dull film");
  CHECK(pieces_of(*words, whole.ids) == Pieces{"<s>", "a", "dull", "film", "</s>"});
  CHECK(!whole.cut);
  const FramedText cut = framed(spec, *words, "a dull film that goes");
  CHECK(cut.ids == whole.ids);
  CHECK(cut.cut);
}

TEST_CASE("polarity with word pieces: [CLS] and [SEP], and lower case where the vocabulary has it") {
  const ScratchFolder root;
  write_reviews(root);
  const std::string path = ATTNLAB_SOURCE_DIR "/tests/golden/tokenizers/lowercase";
  const DataSpec spec =
      spec_of("{kind: polarity, tokenizer: {kind: word_pieces, path: '" + path + "'}}", root);
  const auto words = spec.load().source;
  CHECK(pieces_of(*words, framed(spec, *words, "A b").ids) == Pieces{"[CLS]", "a", "b", "[SEP]"});
}

TEST_CASE("list_ops: all symbols, or those that the released code kept; others are refused by their place") {
  const ScratchFolder root;
  const DataSpec fixed = spec_of("{kind: list_ops, train: 9, valid: 1, test: 1}", root);
  const DataSpec released = spec_of("{kind: list_ops, mode: as_released, train: 9, valid: 1, test: 1}", root);
  const auto symbols = fixed.load().source;
  CHECK(pieces_of(*symbols, framed(fixed, *symbols, "[MAX 2 9 ]").ids) ==
        Pieces{"<s>", "[MAX", "2", "9", "]", "</s>"});
  CHECK(pieces_of(*symbols, framed(released, *symbols, "[MAX 2 9 ]").ids) ==
        Pieces{"<s>", "[MAX", "2", "9", "</s>"});
  std::string digits;
  for (int i = 0; i < 520; ++i) digits += "7 ";
  CHECK(!framed(fixed, *symbols, digits).cut);
  CHECK(framed(released, *symbols, digits).cut);
  CHECK(framed(released, *symbols, digits).ids.size() == 514);
  for (const DataSpec* spec : {&fixed, &released}) {
    CHECK_THROWS_AS(framed(*spec, *symbols, "[MAX 2 x ]"), DataError);
    CHECK_THROWS_WITH(framed(*spec, *symbols, "[MAX 2 x ]"), containing("symbol 3") && containing("[SM"));
  }
}

TEST_CASE("remote_homology: residues alone, and none but capital letters") {
  const ScratchFolder root;
  write_proteins(root);
  const DataSpec spec =
      spec_of("{kind: remote_homology, tests: [remote_homology_test_fold_holdout.json]}", root);
  const auto letters = spec.load().source;
  CHECK(pieces_of(*letters, framed(spec, *letters, "MKV").ids) == Pieces{"M", "K", "V"});
  CHECK_THROWS_WITH(framed(spec, *letters, "MkV"), containing("symbol 2"));
}

TEST_CASE("tasks that do not label whole texts say nothing of a text") {
  const ScratchFolder root;
  for (const std::string task : {"{kind: bit_xor}", "{kind: reverse, train: 5, valid: 2, test: 2}"}) {
    CAPTURE(task);
    const auto words = spec_of("{kind: reverse, train: 5, valid: 2, test: 2}", root).load().source;
    CHECK(!spec_of(task, root).task->frame(*words, words->encode("1 2")));
  }
}
