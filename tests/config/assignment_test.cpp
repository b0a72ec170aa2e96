// Assignments that the program makes of options, and those that it hands on in part: what messages call them.
#include "config/assignment.h"

#include "specs.h"
#include "support/catch.h"

using namespace attnlab;
using namespace config_test;

TEST_CASE("An assignment made of an option is set as any, and messages name the option") {
  CHECK(read(Tree::load({}, {assignment_of_option("--seed", "seed=5")})).seed == 5);
  CHECK(problems_in(Tree::load({}, {assignment_of_option("--layers", "model.layers=0")})) ==
        "--layers:1:1: error: 'model.layers' is 0, must be at least 1");
  CHECK(problems_in(Tree::load({}, {assignment_of_option("--x", "model.widht=1")})) ==
        "--x:1:1: error: unknown key 'model.widht', did you mean 'width'?");
}

TEST_CASE("Those made of options do not count among the --set, which may also bring their own number") {
  CHECK(problems_in(Tree::load({}, {assignment_of_option("--seed", "seed=5"), "sede=1"})) ==
        "--set:1:1: error: unknown key 'sede', did you mean 'seed'?");
  CHECK(problems_in(Tree::load({}, {numbered_assignment(3, "model.layers=0")})) ==
        "--set:3:14: error: 'model.layers' is 0, must be at least 1");
  CHECK(read(Tree::load({}, {numbered_assignment(3, "seed=7")})).seed == 7);
}

TEST_CASE("A plain assignment stays one, whatever its value holds") {
  CHECK_FALSE(placed_assignment("seed=5"));
  CHECK_FALSE(
      placed_assignment("name=a\x1f"
                        "b=c"));
  CHECK_FALSE(placed_assignment(""));
  const auto placed = placed_assignment(numbered_assignment(12, "name=a=b"));
  REQUIRE(placed);
  CHECK(placed->option == "--set");
  CHECK(placed->number == 12);
  CHECK(placed->assignment == "name=a=b");
}
