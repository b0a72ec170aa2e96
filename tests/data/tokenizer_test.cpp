#include "data/tokenizer_spec.h"

#include "config/registry.h"
#include "config/spec.h"
#include "core/error.h"
#include "data/files.h"
#include "support/catch.h"
#include "support/scratch.h"

using namespace attnlab;

namespace {

struct Holder {
  std::shared_ptr<TokenizerSpec> tokenizer;
  void fields(Fields& f) { f.kind("tokenizer", tokenizer, "test"); }
};

std::shared_ptr<TokenizerSpec> spec_of(const std::string& yaml) {
  Holder holder;
  read_spec(Tree::parse("tokenizer: " + yaml), holder);
  return holder.tokenizer;
}

std::vector<std::string> some_lines() {
  std::vector<std::string> lines;
  for (int i = 0; i < 200; ++i) lines.push_back("line number " + std::to_string(i * i) + " of this text");
  return lines;
}

Index files_in(const std::filesystem::path& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), {});
}

}  // namespace

TEST_CASE("every registered tokenizer learns, decodes, is cached and kept") {
  const std::vector<std::string> lines = some_lines();
  CHECK(Registry<TokenizerSpec>::list().size() >= 3);
  for (const auto& kind : Registry<TokenizerSpec>::list()) {
    CAPTURE(kind.name);
    if (Registry<TokenizerSpec>::make(kind.name)->fixed()) continue;  // see published_tokenizers_test.cpp
    const ScratchFolder scratch;
    const auto spec = spec_of(kind.name == "subword" ? "{kind: subword, size: 50}" : kind.name);
    const auto learned = learned_tokenizer(*spec, lines, scratch.path());
    CHECK(learned->name() == kind.name);
    CHECK(learned->decode(learned->encode(lines[7])) == lines[7]);
    CHECK(learned->unk() != learned->eos());
    const auto cached = learned_tokenizer(*spec, lines, scratch.path());
    CHECK(cached->serialized() == learned->serialized());
    CHECK(files_in(scratch.path()) == 1);
    CHECK(learned_tokenizer(*spec, lines, {})->serialized() == learned->serialized());

    const auto file = std::filesystem::directory_iterator(scratch.path())->path();
    write_file(file, "damaged");
    CHECK(learned_tokenizer(*spec, lines, scratch.path())->serialized() == learned->serialized());
    std::vector<std::string> other = lines;
    other.push_back("one line more");
    learned_tokenizer(*spec, other, scratch.path());
    CHECK(files_in(scratch.path()) == 2);

    save_tokenizer(scratch.path() / "vocab", "source", *learned);
    CHECK(load_tokenizer(scratch.path() / "vocab", "source")->serialized() == learned->serialized());
    CHECK_THROWS_AS(load_tokenizer(scratch.path() / "vocab", "target"), DataError);
  }
}

TEST_CASE("the cache tells settings apart") {
  const std::vector<std::string> lines = some_lines();
  const ScratchFolder scratch;
  for (const char* const yaml :
       {"{kind: word}", "{kind: word, min_count: 2}", "{kind: word, max_size: 4}", "{kind: character}"}) {
    learned_tokenizer(*spec_of(yaml), lines, scratch.path());
  }
  CHECK(files_in(scratch.path()) == 4);
  CHECK(learned_tokenizer(*spec_of("{kind: word, max_size: 4}"), lines, scratch.path())->size() == 7);
}

TEST_CASE("a subword sample is drawn by the seed") {
  const std::vector<std::string> lines = some_lines();
  const auto learn = [&lines](const std::string& keys) {
    return spec_of("{kind: subword, size: 50" + keys + "}")->learn(lines);
  };
  CHECK(learn(", sample: 60, seed: 1") == learn(", sample: 60, seed: 1"));
  CHECK(learn(", sample: 60, seed: 1") != learn(", sample: 60, seed: 2"));
}

TEST_CASE("a vocabulary of one kind is not taken for another") {
  const std::string words = spec_of("word")->learn(some_lines());
  CHECK_THROWS_AS(spec_of("character")->parse(words), DataError);
  CHECK_THROWS_AS(spec_of("subword")->parse(words), DataError);
}
