// The kind's keys survive writing and reading; what is no key of it is refused.
#include "attention/properties_table.h"
#include "config/error.h"
#include "config/spec.h"

namespace attnlab {
namespace {

struct Holder {
  std::shared_ptr<AttentionSpec> attention;
  void fields(Fields& f) { f.kind("attention", attention, "the attention under test"); }
};

void test_round_trip(const Subject& subject, Verdict& verdict) {
  Holder given{Registry<AttentionSpec>::clone(*subject.spec)};
  given.attention->heads = subject.small.heads;
  given.attention->key_width = subject.small.key_width;
  const std::string text = write_spec(given);
  Holder read{Registry<AttentionSpec>::make(subject.kind == "none" ? "scaled_dot" : "none")};
  read_spec(Tree::parse(text), read);
  verdict.require(Registry<AttentionSpec>::name_of(*read.attention) == subject.kind,
                  "written and read again, it is another kind");
  for (const SpecDifference& difference : diff(given, read))
    verdict.fail("key " + difference.path + " was " + difference.a + ", read again it is " + difference.b);
  verdict.require(write_spec(read) == text, "written again, the text differs");

  for (const std::string& key : keys_without_effect(subject.kind))
    verdict.fail("key " + key + " takes a value, but does not keep it");

  const std::string misspelt = "attention: {kind: " + subject.kind + ", no_such_key: 1}";
  bool refused = false;
  try {
    read_spec(Tree::parse(misspelt), read);
  } catch (const ConfigError&) {
    refused = true;
  }
  verdict.require(refused, "a key that it does not have was accepted");
}

const Property round_trip{"config round trip", test_round_trip};

}  // namespace
}  // namespace attnlab
