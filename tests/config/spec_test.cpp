#include "config/spec.h"
#include "config/error.h"
#include "config/registry.h"
#include "support/catch.h"
using namespace attnlab;
namespace {
struct A {
  virtual ~A() = default;
  static constexpr const char* kRegistry = "first";
  virtual void fields(Fields&) = 0;
};
struct W : A {
  std::int64_t width = 16;
  void fields(Fields& f) override { f("width", width, at_least(1), "w"); }
};
struct L : A {
  void fields(Fields&) override {}
};
const Registered<A, W> w{"window", "band"};
const Registered<A, L> l{"linear", "lin"};
struct Skip {
  using Scalar = bool;
  bool on = true;
  double scale = 1;
  void set_all(bool v) { on = v; }
  void fields(Fields& f) {
    f("on", on, "on");
    f("scale", scale, at_least(0), "s");
  }
};
struct Layer1 {
  std::int64_t layers = 4;
  double dropout = 0.1;
  Skip skip;
  std::shared_ptr<A> attention = std::make_shared<W>();
  void fields(Fields& f) {
    f("layers", layers, at_least(1), "n");
    f("dropout", dropout, between(0, 1, upper_exclusive), "d");
    f.scalar_or_section("skip", skip, "s");
    f.kind("attention", attention, "a");
  }
};
struct Model {
  Layer1 common;
  Layer1 encoder;
  std::string name = "x";
  std::vector<std::string> trainable{"*"};
  void fields(Fields& f) {
    common.fields(f);
    f.inherits("encoder", encoder, common, "e");
    f("name", name, "n");
    f("trainable", trainable, "t");
  }
};
}  // namespace
TEST_CASE("A section that inherits holds only its own keys when written") {
  Model model;
  read_spec(Tree::parse("layers: 3\nattention: {width: 5}\nskip: false\nencoder:\n  attention: {width: 7}\n"),
            model);
  CHECK(write_spec(model) ==
        "layers: 3\ndropout: 0.1\nskip:\n  on: false\n  scale: 1.0\nattention:\n  kind: window\n  width: 5\n"
        "encoder:\n  attention:\n    width: 7\nname: x\ntrainable:\n  - \"*\"\n");
}
