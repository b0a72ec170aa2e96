// Several files, `base:`, --set, and where a key was set.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "specs.h"
#include "support/catch.h"

using namespace attnlab;
using namespace config_test;
namespace fs = std::filesystem;

namespace {

// A folder of files that goes away with the test.
struct Folder {
  Folder() : path(fs::temp_directory_path() / ("attnlab_config_" + std::to_string(::getpid()))) {
    fs::remove_all(path);
    fs::create_directories(path / "sub");
  }
  ~Folder() { fs::remove_all(path); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return file(name);
  }
  std::string file(const std::string& name) const { return (path / name).string(); }
  fs::path path;
};

}  // namespace

TEST_CASE("Files merge from left to right, --set wins") {
  const Folder folder;
  const std::string a =
      folder.write("a.yaml", "seed: 1\nname: a\nmodel: {width: 8, heads: 2}\ntrain: {betas: [0.5, 0.6]}\n");
  const std::string b = folder.write("b.yaml", "seed: 2\nmodel:\n  width: 16\ntrain: {betas: [0.7, 0.8]}\n");
  const RunSpec ab = read(Tree::load({a, b}));
  CHECK(ab.seed == 2);
  CHECK(ab.name == "a");
  CHECK(ab.model.width == 16);
  CHECK(ab.model.heads == 2);
  CHECK(ab.train.betas == std::vector<double>{0.7, 0.8});
  CHECK(read(Tree::load({b, a})).seed == 1);
  const Tree tree = Tree::load({a, b}, {"seed=3", "model.heads=4", "model.heads=8"});
  CHECK(read(tree).seed == 3);
  CHECK(read(tree).model.heads == 8);
  CHECK(tree.files() == std::vector<std::string>{a, b});
}

TEST_CASE("base: names files relative to the one that names them") {
  const Folder folder;
  folder.write("root.yaml", "seed: 1\nname: root\ntrain: {clip: 3}\n");
  folder.write("sub/mid.yaml", "base: ../root.yaml\nseed: 2\n");
  const std::string top = folder.write("top.yaml", "base: sub/mid.yaml\nname: top\n");
  const Tree tree = Tree::load({top});
  CHECK(read(tree).seed == 2);
  CHECK(read(tree).name == "top");
  CHECK(read(tree).train.clip == 3.0);
  CHECK(tree.files() == std::vector<std::string>{folder.file("root.yaml"), folder.file("sub/mid.yaml"), top});
  CHECK(tree.where("train.clip")->text() == folder.file("root.yaml") + ":3:9");

  folder.write("other.yaml", "seed: 9\n");
  const std::string list = folder.write("list.yaml", "base: [root.yaml, other.yaml]\n");
  CHECK(read(Tree::load({list})).seed == 9);
  CHECK(read(Tree::load({list})).name == "root");
}

TEST_CASE("A base that several files share comes once, below all of them") {
  const Folder folder;
  folder.write("base.yaml", "seed: 1\nname: base\n");
  const std::string a = folder.write("a.yaml", "base: base.yaml\nseed: 2\n");
  const std::string b = folder.write("b.yaml", "base: base.yaml\nname: b\n");
  CHECK(read(Tree::load({a, b})).seed == 2);
  CHECK(read(Tree::load({a, b})).name == "b");
  // Named on the command line it applies where it stands.
  CHECK(read(Tree::load({a, folder.file("base.yaml")})).seed == 1);
}

TEST_CASE("What can go wrong with files") {
  const Folder folder;
  CHECK(problems_in(Tree::load({folder.file("no.yaml")})) ==
        folder.file("no.yaml") + ":1:1: error: cannot be read: No such file or directory");
  CHECK(problems_in(Tree::load({folder.file("sub")})) ==
        folder.file("sub") + ":1:1: error: is a directory, not a file");
  const std::string a = folder.write("a.yaml", "sede: 1\nbase: no.yaml\n");
  CHECK(problems_in(Tree::load({a})) == a + ":1:1: error: unknown key 'sede', did you mean 'seed'?\n" + a +
                                            ":2:7: error: base file '" + folder.file("no.yaml") +
                                            "' cannot be read: No such file or directory");
  const std::string large = folder.write("large.yaml", std::string((1 << 20) + 1, '#'));
  CHECK(problems_in(Tree::load({large})) ==
        large + ":1:1: error: is larger than 1 MiB, too large for a config");
  const std::string list = folder.write("list.yaml", "base: {a: b}\n");
  CHECK(problems_in(Tree::load({list})) ==
        list + ":1:7: error: 'base' must be a file or a list of files, found a section");
  const std::string nothing = folder.write("nothing.yaml", "base:\n");
  CHECK(problems_in(Tree::load({nothing})) ==
        nothing + ":1:1: error: 'base' must be a file or a list of files, found no value");
}

TEST_CASE("Base files in a circle") {
  const Folder folder;
  const std::string a = folder.write("a.yaml", "base: b.yaml\n"),
                    b = folder.write("b.yaml", "base: [./sub/../a.yaml]\n");
  CHECK(problems_in(Tree::load({a})) ==
        b + ":1:8: error: base files in a circle: " + a + " -> " + b + " -> " + a);
  const std::string self = folder.write("self.yaml", "base: self.yaml\nseed: 1\n");
  CHECK(problems_in(Tree::load({self})) ==
        self + ":1:7: error: base files in a circle: " + self + " -> " + self);
}

TEST_CASE("Problems of several files come file by file, --set last") {
  const Folder folder;
  const std::string b = folder.write("b.yaml", "seed: x\n");
  const std::string a = folder.write("a.yaml", "base: b.yaml\nname: [1]\n");
  CHECK(problems_in(Tree::load({a, folder.file("none.yaml")}, {"sede=1", "train.clip=0"})) ==
        a + ":2:7: error: 'name' must be text, found a list\n" + b +
            ":1:7: error: 'seed' must be a whole number, found 'x'\n" + folder.file("none.yaml") +
            ":1:1: error: cannot be read: No such file or directory\n"
            "--set:1:1: error: unknown key 'sede', did you mean 'seed'?\n"
            "--set:2:12: error: 'train.clip' is 0, must be above 0");
}

TEST_CASE("an assignment takes YAML values") {
  const auto set = [](const std::string& assignment) { return read(Tree::load({}, {assignment})); };
  CHECK(set("seed=5").seed == 5);
  CHECK(set("name=a b").name == "a b");
  CHECK(set("name=\"\"").name.empty());
  CHECK(set("name=x=y").name == "x=y");
  CHECK(set("train.max_steps=null").train.max_steps == std::nullopt);
  CHECK(set("train.max_steps=1e3").train.max_steps == 1000);
  CHECK(set("train.trainable=[\"*.norm.*\", head]").train.trainable ==
        std::vector<std::string>{"*.norm.*", "head"});
  CHECK(set("train.trainable=*.norm.*").train.trainable == std::vector<std::string>{"*.norm.*"});
  CHECK(set("train.trainable=layernorm_only").train.trainable == std::vector<std::string>{"layernorm_only"});
  CHECK(set("model={width: 8, skip: false}").model.width == 8);
  CHECK_FALSE(set("model={width: 8, skip: false}").model.decoder.skip.on);
  CHECK(set("model.encoder.shape.kind=feature").model.common.shape->gain == 1);
}

TEST_CASE("Problems with --set carry its number and column") {
  CHECK(problems_of_set("seed=x") == "--set:1:6: error: 'seed' must be a whole number, found 'x'");
  CHECK(problems_of_set("model.layers=0") == "--set:1:14: error: 'model.layers' is 0, must be at least 1");
  CHECK(problems_of_set("model.widht=0") ==
        "--set:1:7: error: unknown key 'model.widht', did you mean 'width'?");
  CHECK(problems_of_set("mdoel.width=0") == "--set:1:1: error: unknown key 'mdoel', did you mean 'model'?");
  CHECK(problems_of_set("seed") == "--set:1:1: error: expected a.b=value, found 'seed'");
  CHECK(problems_of_set("=3") == "--set:1:1: error: expected a.b=value, found '=3'");
  CHECK(problems_of_set("a..b=3") == "--set:1:1: error: expected a.b=value, found 'a..b=3'");
  CHECK(problems_of_set("base=x.yaml") == "--set:1:1: error: 'base' stands in files only");
  CHECK(problems_of_set("seed=[1") ==
        "--set:1:6: error: invalid YAML: '[' without ']', or ',' missing in it");
  CHECK(problems_of_set("train.trainable=[*.norm]") ==
        "--set:1:18: error: a leading * starts an alias, which is not supported; put text that begins with * "
        "in quotes");
  CHECK(problems_of_set("seed=") == "--set:1:1: error: 'seed' must be a whole number, found no value");
  CHECK(problems_of_set("name=\"\xff\"") == "--set:1:7: error: invalid UTF-8: byte 0xFF");
  CHECK(problems_of_set("seed.a=3") == "--set:1:6: error: 'seed' must be a whole number, found a section");
  CHECK(problems_in(Tree::load({}, {"seed=1", "model.shape={kind: bnad}"})) ==
        "--set:2:20: error: 'model.shape' has an unknown kind 'bnad' of shape, did you mean 'band'?; known "
        "kinds: band, "
        "feature, plain");
}

TEST_CASE("Where a key was set") {
  Tree tree = Tree::parse("seed: 1\nmodel:\n  width: 8\n  shape: {kind: band}\n", "a.yaml");
  tree.set("model.heads=2");
  CHECK(tree.where("model.width")->text() == "a.yaml:3:3");
  CHECK(tree.where("model.shape.kind")->text() == "a.yaml:4:11");
  CHECK(tree.where("model.heads")->text() == "--set:1:7");
  CHECK_FALSE(tree.where("model.layers"));
  CHECK_FALSE(tree.where("seed.x"));
  CHECK(tree.locate("model.layers.x") == "--set:1:1");
  CHECK(tree.locate("seed.x") == "a.yaml:1:1");
  CHECK(tree.locate("train.clip") == "a.yaml:1:1");
}
