// What a program says of kinds that it does not know, where it can load some.
#include "specs.h"
#include "support/catch.h"

using namespace attnlab;
using namespace config_test;

namespace {

struct Hint {
  explicit Hint(const std::string& text) { set_source_of_further_kinds(text); }
  ~Hint() { set_source_of_further_kinds(""); }
};

std::string refusal_of(const std::string& kind) {
  try {
    Registry<ShapeSpec>::make(kind);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "nothing thrown";
}

}  // namespace

TEST_CASE("An unknown kind is told where further ones come from, where there is such a place") {
  const std::string plain = refusal_of("zzzzzz");
  CHECK(plain.find("unknown kind 'zzzzzz' of shape; known kinds: ") == 0);
  {
    const Hint hint("more come with --load FILE.so");
    CHECK(refusal_of("zzzzzz") == plain + "; more come with --load FILE.so");
    CHECK(problems_in("model: {shape: zzzzzz}").ends_with("; more come with --load FILE.so"));
  }
  CHECK(refusal_of("zzzzzz") == plain);
}
