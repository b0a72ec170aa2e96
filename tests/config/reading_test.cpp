// Values of every type, and the exact words about those that are refused.
#include "specs.h"
#include "support/catch.h"

using namespace attnlab;
using namespace config_test;

TEST_CASE("Whole numbers") {
  CHECK(read("seed: 7").seed == 7);
  CHECK(read("seed: -7").seed == -7);
  CHECK(read("seed: +7").seed == 7);
  CHECK(read("seed: 1e3").seed == 1000);
  CHECK(read("seed: 1.5E3").seed == 1500);
  CHECK(read("seed: 3.0").seed == 3);
  CHECK(read("seed: 9223372036854775807").seed == 9223372036854775807);
  CHECK(read("seed: -9223372036854775808").seed == std::numeric_limits<std::int64_t>::min());
  CHECK(problems_in("seed: two") == "a.yaml:1:7: error: 'seed' must be a whole number, found 'two'");
  CHECK(problems_in("seed: 2.5") == "a.yaml:1:7: error: 'seed' must be a whole number, found '2.5'");
  CHECK(problems_in("seed: 1e-3") == "a.yaml:1:7: error: 'seed' must be a whole number, found '1e-3'");
  CHECK(problems_in("seed: 0x10") == "a.yaml:1:7: error: 'seed' must be a whole number, found '0x10'");
  CHECK(problems_in("seed: 010") == "a.yaml:1:7: error: 'seed' must be a whole number, found '010'");
  CHECK(problems_in("seed: 1_000") == "a.yaml:1:7: error: 'seed' must be a whole number, found '1_000'");
  CHECK(problems_in("seed: '7'") == "a.yaml:1:7: error: 'seed' must be a whole number, found the text \"7\"");
  CHECK(problems_in("seed: true") == "a.yaml:1:7: error: 'seed' must be a whole number, found 'true'");
  CHECK(problems_in("seed: .inf") == "a.yaml:1:7: error: 'seed' must be a whole number, found '.inf'");
  CHECK(problems_in("seed:") == "a.yaml:1:1: error: 'seed' must be a whole number, found no value");
  CHECK(problems_in("seed: [7]") == "a.yaml:1:7: error: 'seed' must be a whole number, found a list");
  CHECK(problems_in("seed: {a: 7}") == "a.yaml:1:7: error: 'seed' must be a whole number, found a section");
  CHECK(problems_in("seed: 9223372036854775808") ==
        "a.yaml:1:7: error: 'seed' is '9223372036854775808', which does not fit in 64 bits");
  CHECK(
      problems_in("seed: 1e30") ==
      "a.yaml:1:7: error: 'seed' is '1e30', too large for a whole number in this form; write all its digits");
}

TEST_CASE("Numbers") {
  const auto rate = [](const char* text) {
    return read(std::string("train: {learning_rate: ") + text + "}").train.learning_rate;
  };
  CHECK(rate("1e-4") == 1e-4);
  CHECK(rate("1E5") == 1e5);
  CHECK(rate("+.5") == 0.5);
  CHECK(rate("5.") == 5);
  CHECK(rate("3") == 3);
  CHECK(rate("0.30000000000000004") == 0.30000000000000004);
  const auto wrong = [](const char* text) {
    return problems_in(std::string("train:\n  learning_rate: ") + text + "\n");
  };
  CHECK(wrong(".nan") == "a.yaml:2:18: error: 'train.learning_rate' must be a finite number, found '.nan'");
  CHECK(wrong("nan") == "a.yaml:2:18: error: 'train.learning_rate' must be a finite number, found 'nan'");
  CHECK(wrong("-.Inf") == "a.yaml:2:18: error: 'train.learning_rate' must be a finite number, found '-.Inf'");
  CHECK(wrong("1e999") ==
        "a.yaml:2:18: error: 'train.learning_rate' is '1e999', too large or too small for a double");
  CHECK(wrong("1e-999") ==
        "a.yaml:2:18: error: 'train.learning_rate' is '1e-999', too large or too small for a double");
  CHECK(wrong("fast") == "a.yaml:2:18: error: 'train.learning_rate' must be a number, found 'fast'");
  CHECK(wrong("1e") == "a.yaml:2:18: error: 'train.learning_rate' must be a number, found '1e'");
  CHECK(wrong(".") == "a.yaml:2:18: error: 'train.learning_rate' must be a number, found '.'");
  CHECK(wrong("1,5") == "a.yaml:2:18: error: 'train.learning_rate' must be a number, found '1,5'");
  CHECK(wrong("1 000") == "a.yaml:2:18: error: 'train.learning_rate' must be a number, found '1 000'");
}

TEST_CASE("Truth values are true and false, with a hint for the rest") {
  CHECK_FALSE(read("deterministic: false").deterministic);
  CHECK(read("deterministic: true").deterministic);
  const auto wrong = [](const char* text) { return problems_in(std::string("deterministic: ") + text); };
  const std::string start = "a.yaml:1:16: error: 'deterministic' must be true or false, found ";
  CHECK(wrong("yes") == start + "'yes'; write true");
  CHECK(wrong("On") == start + "'On'; write true");
  CHECK(wrong("True") == start + "'True'; write true");
  CHECK(wrong("1") == start + "'1'; write true");
  CHECK(wrong("no") == start + "'no'; write false");
  CHECK(wrong("OFF") == start + "'OFF'; write false");
  CHECK(wrong("0") == start + "'0'; write false");
  CHECK(wrong("maybe") == start + "'maybe'");
  CHECK(wrong("\"true\"") == start + "the text \"true\"");
}

TEST_CASE("Text takes any scalar as it is written") {
  CHECK(read("name: abc def").name == "abc def");
  CHECK(read("name: 1e3").name == "1e3");
  CHECK(read("name: true").name == "true");
  CHECK(read("name: \"null\"").name == "null");
  CHECK(read("name: ''").name.empty());
  CHECK(read("name: |\n  two\n  lines\n").name == "two\nlines\n");
  CHECK(read("name: \"tab\\t é \\u00e9\"").name == "tab\t é é");
  CHECK(problems_in("name: null") == "a.yaml:1:1: error: 'name' must be text, found no value");
  CHECK(problems_in("name: [a]") == "a.yaml:1:7: error: 'name' must be text, found a list");
}

TEST_CASE("Unset values") {
  CHECK(read("train: {max_steps: 5}").train.max_steps == 5);
  CHECK_FALSE(read("train: {max_steps: null}").train.max_steps);
  CHECK_FALSE(read("train: {clip: ~}").train.clip);
  CHECK(read("train: {}").train.clip == 1.0);
  CHECK(read("train: {from: runs/a, fast: false}").train.from == "runs/a");
  CHECK(read("train: {from: runs/a, fast: false}").train.fast == false);
  CHECK(problems_in("train: {clip: 0}") == "a.yaml:1:15: error: 'train.clip' is 0, must be above 0");
  CHECK(problems_in("train: {fast: 2}") ==
        "a.yaml:1:15: error: 'train.fast' must be true or false, found '2'");
}

TEST_CASE("Lists, or a single value for a list of one") {
  CHECK(read("train: {trainable: [a, \"*.norm\"]}").train.trainable ==
        std::vector<std::string>{"a", "*.norm"});
  CHECK(read("train: {trainable: all}").train.trainable == std::vector<std::string>{"all"});
  CHECK(read("train: {trainable: []}").train.trainable.empty());
  CHECK(read("train:\n  milestones:\n  - 1\n  - 1e3\n").train.milestones ==
        std::vector<std::int64_t>{1, 1000});
  CHECK(problems_in("train:\n  milestones:\n    - 1\n    - x\n") ==
        "a.yaml:4:7: error: 'train.milestones' item 2 must be a whole number, found 'x'");
  CHECK(problems_in("train: {milestones: [3, -1]}") ==
        "a.yaml:1:25: error: 'train.milestones' item 2 is -1, must be at least 0");
  CHECK(problems_in("train: {milestones: -1}") ==
        "a.yaml:1:21: error: 'train.milestones' is -1, must be at least 0");
  CHECK(problems_in("train: {trainable: }") ==
        "a.yaml:1:9: error: 'train.trainable' must be a list, found no value");
  CHECK(problems_in("train: {trainable: {a: 1}}") ==
        "a.yaml:1:20: error: 'train.trainable' must be a list, found a section");
  CHECK(problems_in("train: {trainable: [a, ~]}") ==
        "a.yaml:1:24: error: 'train.trainable' item 2 must be text, found no value");
}

TEST_CASE("Ranges") {
  CHECK(problems_in("model: {layers: 0}") == "a.yaml:1:17: error: 'model.layers' is 0, must be at least 1");
  CHECK(problems_in("model: {dropout: {residual: 1}}") ==
        "a.yaml:1:29: error: 'model.dropout.residual' is 1, must be at least 0 and below 1");
  CHECK(problems_in("model: {shape: {kind: feature, features: 5000}}") ==
        "a.yaml:1:42: error: 'model.shape.features' is 5000, must be between 1 and 4096");
  CHECK(any().text().empty());
  CHECK(at_most(2.5).text() == "at most 2.5");
  CHECK(below(2).text() == "below 2");
  CHECK(above(-1).text() == "above -1");
  CHECK_FALSE(any().contains(std::numeric_limits<double>::quiet_NaN()));
  CHECK(above(0).contains(1e-300));
  CHECK_FALSE(above(0).contains(0));
  CHECK(between(0, 1).contains(1));
  CHECK_FALSE(between(0, 1, upper_exclusive).contains(1));
}

TEST_CASE("Choices") {
  CHECK(read("model: {norm: {place: post}}").model.common.norm.place == Norm::post);
  CHECK(problems_in("model: {norm: {place: pots}}") ==
        "a.yaml:1:23: error: 'model.norm.place' must be one of pre, post, none; found 'pots', did you mean "
        "'post'?");
  CHECK(problems_in("model: {norm: {place: [pre]}}") ==
        "a.yaml:1:23: error: 'model.norm.place' must be one of pre, post, none; found a list");
}

TEST_CASE("A scalar for a whole section") {
  CHECK_FALSE(read("model: {skip: false}").model.common.skip.on);
  CHECK(read("model: {skip: {scale: 2}}").model.common.skip.scale == 2);
  CHECK(read("model: {dropout: 0.3}").model.common.dropout.residual == 0.3);
  CHECK(read("model: {dropout: 0}").model.common.dropout.attention == 0);
  CHECK(read("model: {norm: none}").model.common.norm.place == Norm::none);
  CHECK(
      problems_in("model: {skip: yes}") ==
      "a.yaml:1:15: error: 'model.skip' must be true or false, found 'yes'; write true (or give a section)");
  CHECK(problems_in("model: {skip: [true]}") ==
        "a.yaml:1:15: error: 'model.skip' must be true or false or a section, found a list");
  CHECK(problems_in("model: {norm: before}") ==
        "a.yaml:1:15: error: 'model.norm' must be one of pre, post, none");
  CHECK(problems_in("model: {dropout: 1.5}") ==
        "a.yaml:1:18: error: 'model.dropout.attention' is 1.5, must be at least 0 and below 1\n"
        "a.yaml:1:18: error: 'model.dropout.residual' is 1.5, must be at least 0 and below 1");
}

TEST_CASE("Overlays on a section that may be a scalar") {
  Tree tree = Tree::parse("model: {skip: {on: false, scale: 2}}");
  tree.set("model.skip=true");
  CHECK(read(tree).model.common.skip.on);
  CHECK(read(tree).model.common.skip.scale == 1);  // the scalar replaced the section
  tree.set("model.skip.scale=3");
  CHECK(read(tree).model.common.skip.on);
  CHECK(read(tree).model.common.skip.scale == 3);
}

TEST_CASE("Sections") {
  CHECK(read("model:").model.width == 64);
  CHECK(problems_in("model: 5") == "a.yaml:1:8: error: 'model' must be a section, found '5'");
  CHECK(problems_in("model:\n  - width: 5\n") ==
        "a.yaml:2:3: error: 'model' must be a section, found a list");
}

TEST_CASE("Unknown keys: near matches, and where they belong") {
  CHECK(problems_in("sede: 1") == "a.yaml:1:1: error: unknown key 'sede', did you mean 'seed'?");
  CHECK(problems_in("model:\n  widht: 3\n") ==
        "a.yaml:2:3: error: unknown key 'model.widht', did you mean 'width'?");
  CHECK(problems_in("learning_rate: 3") ==
        "a.yaml:1:1: error: unknown key 'learning_rate'; it belongs to 'train'");
  CHECK(problems_in("model: {seed: 3}") ==
        "a.yaml:1:9: error: unknown key 'model.seed'; it belongs to the top level");
  CHECK(problems_in("train: {features: 3}") ==
        "a.yaml:1:9: error: unknown key 'train.features'; it belongs to 'model.shape' with "
        "model.shape.kind=feature");
  CHECK(problems_in("nmae: 1\nscale: 2\n") ==
        "a.yaml:1:1: error: unknown key 'nmae', did you mean 'name'?\n"
        "a.yaml:2:1: error: unknown key 'scale'; it belongs to 'model.skip'");
  CHECK(problems_in("zzzzzz: 1") == "a.yaml:1:1: error: unknown key 'zzzzzz'");
  CHECK(
      problems_in("model.width: 1") ==
      "a.yaml:1:1: error: unknown key 'model.width'; dotted paths are for --set, write nested sections here");
  CHECK(problems_in("model: {encoder: {widht: 1}}") ==
        "a.yaml:1:19: error: unknown key 'model.encoder.widht'");
}

TEST_CASE("Rules across fields are reported with everything else, at the key or as near as can be") {
  CHECK(problems_in("model:\n  width: 10\n  heads: 3\nseed: x\n") ==
        "a.yaml:3:3: error: 'model.heads': width must be a multiple of heads\n"
        "a.yaml:4:7: error: 'seed' must be a whole number, found 'x'");
  CHECK(problems_in("seed: 1\nmodel:\n  width: 10\n") ==
        "a.yaml:2:1: error: 'model.heads': width must be a multiple of heads");
  CHECK(problems_in("train: {betas: [0.9]}") == "a.yaml:1:9: error: 'train.betas': needs two numbers");
  // What an heir has from its parent is said once, what it adds is said of it.
  const std::string deep = "so many layers need skip connections";
  CHECK(problems_in("model:\n  layers: 100\n  skip: false\n  encoder: {norm: post}\n") ==
        "a.yaml:2:3: error: 'model.layers': " + deep);
  CHECK(problems_in("model:\n  layers: 100\n  encoder:\n    skip: false\n") ==
        "a.yaml:2:3: error: 'model.encoder.layers': " + deep);
  CHECK(problems_in("model:\n  skip: false\n  encoder:\n    layers: 100\n") ==
        "a.yaml:4:5: error: 'model.encoder.layers': " + deep);
  // Not about a key whose value was refused.
  CHECK(problems_in("model: {width: 10, heads: x}") ==
        "a.yaml:1:27: error: 'model.heads' must be a whole number, found 'x'");
}

TEST_CASE("All problems come at once, in the order of the file") {
  CHECK(problems_in("name: [x]\n"
                    "model:\n"
                    "  layers: 0\n"
                    "  layers: 3\n"
                    "  shape: {kind: bandd}\n"
                    "  encoder: {skip: maybe}\n"
                    "train:\n"
                    "  learning_rate: .nan\n"
                    "  stpes: 3\n") ==
        "a.yaml:1:7: error: 'name' must be text, found a list\n"
        "a.yaml:3:11: error: 'model.layers' is 0, must be at least 1\n"
        "a.yaml:4:3: error: key 'layers' given twice, first in line 3\n"
        "a.yaml:5:17: error: 'model.shape' has an unknown kind 'bandd' of shape, did you mean 'band'?; known "
        "kinds: "
        "band, feature, plain\n"
        "a.yaml:6:19: error: 'model.encoder.skip' must be true or false, found 'maybe' (or give a section)\n"
        "a.yaml:8:18: error: 'train.learning_rate' must be a finite number, found '.nan'\n"
        "a.yaml:9:3: error: unknown key 'train.stpes'");
}

TEST_CASE("Very many problems are counted, not printed") {
  std::string text;
  for (int i = 0; i < 150; ++i) text += "zzzzzz" + std::to_string(i) + ": 1\n";
  const std::string problems = problems_in(text);
  CHECK(problems.find("a.yaml:100:1: error: unknown key 'zzzzzz99'\n… and 50 more") != std::string::npos);
  CHECK(problems.find("zzzzzz100") == std::string::npos);
}
