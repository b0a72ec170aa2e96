#include "core/numbered_name.h"

#include "support/catch.h"

using attnlab::number_part;
using attnlab::without_numbers;

TEST_CASE("numbers in names are whole parts between dots") {
  CHECK(without_numbers("encoder.layers.3.mlp") == "encoder.layers.*.mlp");
  CHECK(without_numbers("0.a.12.7") == "*.a.*.*");
  CHECK(without_numbers("ln_1.w2.1b.weight") == "ln_1.w2.1b.weight");
  CHECK(without_numbers("a..b.") == "a..b.");
  CHECK(without_numbers("").empty());
  CHECK_FALSE(number_part("layers.x").has_value());
  const auto part = number_part("layers.12.bias");
  REQUIRE(part.has_value());
  CHECK(part->begin == 7);
  CHECK(part->end == 9);
}
