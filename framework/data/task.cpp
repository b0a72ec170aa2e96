#include "data/task.h"

#include "core/error.h"
#include "data/sha256.h"

namespace attnlab {
namespace {

void add_corpus(Sha256& hash, const Corpus& corpus) {
  hash.add_field(std::to_string(corpus.examples.size()));
  for (const Example& example : corpus.examples) {
    hash.add_numbers(example.source);
    hash.add_numbers(example.target);
    if (!example.vectors.empty()) hash.add_numbers(example.vectors);
  }
  for (const auto* const lines : {&corpus.sources, &corpus.references}) {
    hash.add_field(std::to_string(lines->size()));
    for (const std::string& line : *lines) hash.add_field(line);
  }
}

}  // namespace

std::string content_hash(const Task& task) {
  Sha256 hash;
  add_corpus(hash, task.train);
  add_corpus(hash, task.valid);
  for (const NamedCorpus& test : task.tests) {
    hash.add_field(test.name);
    add_corpus(hash, test.corpus);
  }
  if (task.labels > 0) hash.add_field(join_text(task.labels, " labels on ", task.label_rows, " rows"));
  for (const Tokenizer* const tokenizer : {task.source.get(), task.target.get()}) {
    hash.add_field(tokenizer == nullptr ? "" : tokenizer->serialized());
  }
  return hash.hex();
}

}  // namespace attnlab
