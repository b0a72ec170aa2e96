// Every registered attention keeps what it promises. There is no list: a new kind is tested because it
// exists.
#include "attention/properties.h"

#include "attention/attention.h"
#include "support/catch.h"

using namespace attnlab;

TEST_CASE("every attention keeps its promises") {
  for (const auto& kind : Registry<AttentionSpec>::list()) {
    if (kind.name.starts_with("broken_")) continue;  // those of broken_kinds_test.cpp
    for (const PropertyResult& result : check_attention(kind.name)) {
      INFO(kind.name << ", " << result.property << ": " << result.details);
      CHECK(result.outcome != Outcome::failed);
    }
  }
}

TEST_CASE("an attention that there is not is an error with a near match") {
  CHECK_THROWS_WITH(check_attention("scaled_dott"), containing("did you mean 'scaled_dot'?"));
  CHECK_THROWS_WITH(check_attention("scaled_dot", "beauty"), containing("no property 'beauty'"));
}

TEST_CASE("what is not promised is refused or said") {
  const auto outcome = [](const std::string& kind, const std::string& property) {
    return check_attention(kind, property).at(0).outcome;
  };
  CHECK(outcome("linformer", "causality") == Outcome::refused_cleanly);
  CHECK(outcome("linformer", "intervals") == Outcome::refused_cleanly);
  CHECK(outcome("linformer", "incremental") == Outcome::refused_cleanly);
  CHECK(outcome("window", "key order") == Outcome::not_promised);
  CHECK(outcome("none", "gradients") == Outcome::not_promised);
  CHECK(outcome("none", "dropout") == Outcome::not_promised);
  CHECK(outcome("linear", "dropout") == Outcome::not_promised);
  CHECK(outcome("scaled_dot", "dropout") == Outcome::passed);
  CHECK(outcome("linformer", "dropout") == Outcome::passed);
  for (const char* kind : {"scaled_dot", "shared_query_key", "window"})
    CHECK(outcome(kind, "exact") == Outcome::passed);
  for (const char* kind : {"linear", "linformer", "uniform", "none"})
    CHECK(outcome(kind, "exact") == Outcome::not_promised);
}
