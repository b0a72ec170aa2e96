// Paths through the layers: their number, and that all of them together are the network.
#include "study/paths.h"

#include <cmath>
#include <set>

#include "study/probed.h"
#include "support/catch.h"

using namespace attnlab;

namespace {

// Attention and skips alone, which paths decompose exactly.
Probed linear_network(ModelKind kind, Pooling pool) {
  return Probed(kind, [pool](ModelSpec& spec) {
    spec.head.pool = pool;
    set_all_stacks(spec, [](StackSpec& stack) {
      stack.layers = 3;
      stack.norm.position = NormPosition::none;
      stack.mlp.on = false;
      stack.biases.set_all(false);
      stack.init.value_gain = 0.2;
    });
  });
}

}  // namespace

TEST_CASE("all paths together are the network, where nothing but attention and skips is in it") {
  for (const ModelKind kind : {ModelKind::encoder, ModelKind::decoder})
    for (const Pooling pool : {Pooling::none, Pooling::last}) {
      Probed probed = linear_network(kind, pool);
      for_each_batch(probed.subject, [&](const ModelInput& input, Index) {
        const PathRunner runner(probed.subject, input, PathAttention::whole);
        Tensor sum;
        for (Index length = 0; length <= 3; ++length)
          for (const Path& path : paths_of_length({2, 2, 2}, length, 1000, 1)) {
            if (!sum)
              sum = runner.output(path).clone();
            else
              accumulate(runner.output(path), sum);
          }
        const std::string stack = only_stack(*probed.tiny.model).path();
        Recorder seen(*probed.tiny.model, [&stack](const std::string& module, std::string_view what) {
          return module == stack && what == "output";
        });
        Tape tape({.training = false});
        probed.tiny.model->hidden(tape, input);
        const auto network = seen.at(stack, "output").to_doubles(), paths = sum.to_doubles();
        REQUIRE(paths.size() == network.size());
        for (std::size_t i = 0; i < paths.size(); ++i)
          REQUIRE(paths[i] == Approx(network[i]).epsilon(1e-9).margin(1e-9));
      });
    }
}

TEST_CASE("the path that goes past all layers gives what it was given") {
  Probed probed(ModelKind::encoder, [](ModelSpec& spec) {
    set_all_stacks(spec, [](StackSpec& stack) { stack.norm.position = NormPosition::post; });
  });
  Recorder seen(*probed.tiny.model, [](const std::string& module, std::string_view what) {
    return module == "encoder" && what == "input";
  });
  for_each_batch(probed.subject, [&](const ModelInput& input, Index) {
    const PathRunner runner(probed.subject, input, PathAttention::own);
    const auto output = runner.output({-1, -1}).to_doubles();
    CHECK(output == seen.at("encoder", "input").to_doubles());
    CHECK(output != runner.output({-1, 1}).to_doubles());
  });
}

TEST_CASE("paths of a length: all of them, or some without repetition") {
  CHECK(paths_of_length({2, 2, 2}, 0, 10, 1).size() == 1);
  CHECK(paths_of_length({2, 2, 2}, 2, 100, 1).size() == 12);
  CHECK(paths_of_length({2, 0, 2}, 2, 100, 1).size() == 4);
  CHECK(paths_of_length({2, 0, 2}, 3, 100, 1).empty());
  const auto some = paths_of_length({4, 4, 0, 4, 4}, 3, 20, 5);
  REQUIRE(some.size() == 20);
  CHECK(std::set<Path>(some.begin(), some.end()).size() == 20);
  CHECK(some == paths_of_length({4, 4, 0, 4, 4}, 3, 20, 5));
  for (const Path& path : some) {
    CHECK(path[2] == -1);
    CHECK(std::count(path.begin(), path.end(), -1) == 2);
  }
}

TEST_CASE("path decomposition scores the whole network as forced scoring does, under any head") {
  for (const ModelKind kind : {ModelKind::encoder, ModelKind::decoder})
    for (const Pooling pool : {Pooling::none, Pooling::last, Pooling::mean}) {
      CAPTURE(static_cast<int>(kind), static_cast<int>(pool));
      Probed probed(kind, pooled_by(pool));
      const auto probe = make_probe("path_decomposition", {"lengths=[1]", "paths=1", "draws=1"});
      const Record numbers = run_probe(*probe, probed.subject).numbers;
      double log_probability = 0, labels = 0;
      for (const ReferenceScore& one : score_reference(*probed.tiny.model, probed.subject.examples)) {
        log_probability += one.log_probability;
        labels += static_cast<double>(one.tokens);
      }
      CHECK(numbers.number("whole.nll") == Approx(-log_probability / labels));
      CHECK(numbers.number("whole.token_accuracy") <= 1);
    }
}

TEST_CASE("path decomposition scores lengths, and wants one stack with skips") {
  Probed probed(ModelKind::encoder);
  const Record numbers =
      run_probe(*make_probe("path_decomposition", {"paths=2", "draws=2"}), probed.subject).numbers;
  for (const char* name : {"whole.token_accuracy", "length_0.token_accuracy", "length_2.nll"})
    CHECK(std::isfinite(numbers.number(name)));
  const auto probe = make_probe("path_decomposition", {});
  CHECK(!probe->refusal(Probed(ModelKind::encoder_decoder).subject.model.spec()).empty());
  Probed bare(ModelKind::encoder, [](ModelSpec& spec) {
    set_all_stacks(spec, [](StackSpec& stack) { stack.skip.set_all(false); });
  });
  CHECK(!probe->refusal(bare.subject.model.spec()).empty());
}
