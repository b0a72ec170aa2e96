#include "train/trainable.h"

#include <sstream>

#include "config/error.h"
#include "support/catch.h"

using namespace attnlab;

namespace {

std::unique_ptr<ParameterSet> some_parameters() {
  auto parameters = std::make_unique<ParameterSet>();
  const Fill zeros = [](std::span<double>, Index, const Random&) {};
  for (const char* name :
       {"source.embedding", "encoder.0.attention.query.weight", "encoder.0.attention.norm.gain",
        "encoder.0.mlp.norm.bias", "encoder.norm.gain", "encoder.10.mlp.up.weight", "output.weight"})
    parameters->add(name, {2, 3}, zeros);
  return parameters;
}

std::vector<std::string> selected(const TrainableSpec& spec) {
  auto parameters = some_parameters();
  parameters->finalise(DType::f32, 1, select_trainable(spec, *parameters));
  std::vector<std::string> names;
  for (const auto& parameter : parameters->all())
    if (parameter->trainable()) names.push_back(parameter->name());
  return names;
}

using Names = std::vector<std::string>;

// Of an encoder with one layer and a decoder with two.
Names selected_of_two_stacks(const TrainableSpec& spec) {
  ParameterSet parameters;
  const Fill zeros = [](std::span<double>, Index, const Random&) {};
  for (const std::string layer : {"encoder.layers.0", "decoder.layers.0", "decoder.layers.1"}) {
    parameters.add(layer + ".self_attention.query.weight", {2, 3}, zeros);
    parameters.add_buffer(layer + ".self_attention.gates", {2}, zeros);
    parameters.add(layer + ".mlp.up.weight", {2, 3}, zeros);
  }
  parameters.finalise(DType::f32, 1, select_trainable(spec, parameters));
  Names names;
  for (const auto& parameter : parameters.all())
    if (parameter->trainable()) names.push_back(parameter->name());
  return names;
}

}  // namespace

TEST_CASE("patterns and presets choose what trains") {
  CHECK(selected({}).size() == 7);
  CHECK(selected({{"layernorm_only"}, {}}) ==
        Names{"encoder.0.attention.norm.gain", "encoder.0.mlp.norm.bias", "encoder.norm.gain"});
  CHECK(selected({{"head_only"}, {}}) == Names{"output.weight"});
  CHECK(selected({{"all"}, {"encoder.*", "output.*"}}) == Names{"source.embedding"});
  CHECK(selected({{"head_only", "encoder.?.mlp.*"}, {}}) ==
        Names{"encoder.0.mlp.norm.bias", "output.weight"});
  CHECK(selected({{"*.norm.*"}, {"*.bias"}}) == Names{"encoder.0.attention.norm.gain", "encoder.norm.gain"});
}

TEST_CASE("buffers train only by a pattern that names them, and only those that it matches") {
  const auto all = selected_of_two_stacks({{"all"}, {}});
  CHECK(all.size() == 6);
  auto with_one = selected_of_two_stacks({{"all", "encoder.layers.0.self_attention.gates"}, {}});
  CHECK(std::erase(with_one, "encoder.layers.0.self_attention.gates") == 1);
  CHECK(with_one == all);
  CHECK(selected_of_two_stacks({{"*.gates"}, {"encoder.*"}}) ==
        Names{"decoder.layers.0.self_attention.gates", "decoder.layers.1.self_attention.gates"});
}

TEST_CASE("the last layer is that of each stack") {
  CHECK(
      selected_of_two_stacks({{"last_attention"}, {}}) ==
      Names{"encoder.layers.0.self_attention.query.weight", "decoder.layers.1.self_attention.query.weight"});
  CHECK(selected_of_two_stacks({{"last_mlp"}, {}}) ==
        Names{"encoder.layers.0.mlp.up.weight", "decoder.layers.1.mlp.up.weight"});
  CHECK(selected_of_two_stacks({{"all"}, {"*.layers.{last}.*"}}) ==
        Names{"decoder.layers.0.self_attention.query.weight", "decoder.layers.0.mlp.up.weight"});
}

TEST_CASE("a pattern that matches nothing is an error") {
  const auto parameters = some_parameters();
  const auto message = [&parameters](const TrainableSpec& spec) -> std::string {
    try {
      select_trainable(spec, *parameters);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message({{"all", "enc0der.*", "x"}, {}}).find("train.trainable: 'enc0der.*' matches no parameter") ==
        7);
  CHECK(message({{"all", "enc0der.*", "x"}, {}}).find("'x'") != std::string::npos);
  CHECK(message({{"norm"}, {}}).find("'norm' matches no parameter, did you mean 'norms'?") !=
        std::string::npos);
  CHECK(message({{"all", "adapters"}, {}})
            .find("'adapters' matches no parameter, for this model has no such part") != std::string::npos);
  CHECK(message({{"all"}, {"layernorm"}}).find("train.frozen: 'layernorm'") == 7);
  CHECK(message({{"all"}, {"layernorm"}}).find("; parts are all, head_only, layernorm_only, norms, ") !=
        std::string::npos);
  CHECK(message({{"head_only"}, {"output.*"}}).find("leave no parameter") != std::string::npos);
  CHECK(message({{}, {}}).find("leave no parameter") != std::string::npos);
}

TEST_CASE("the table shows every tensor and what trains") {
  auto parameters = some_parameters();
  parameters->finalise(DType::f32, 1, select_trainable({{"head_only"}, {}}, *parameters));
  const std::string table = trainable_table(*parameters);
  CHECK(table.find("encoder.0.attention.norm.gain") != std::string::npos);
  CHECK(table.find("(2,3)") != std::string::npos);
  CHECK(table.find("1 of 7 tensors train, 6 of 42 numbers") != std::string::npos);
}

TEST_CASE("the table shows layers that are alike in one line") {
  ParameterSet parameters;
  const Fill zeros = [](std::span<double>, Index, const Random&) {};
  for (const char* layer : {"0", "1", "2", "3", "10"}) {
    const std::string name = std::string("decoder.layers.") + layer;
    parameters.add(name + ".mlp.up.weight", {2, 3}, zeros);
    parameters.add(name + ".mlp.norm.weight", {3}, zeros);
  }
  parameters.add("decoder.layers.11.mlp.up.weight", {5, 3}, zeros);  // of another shape
  parameters.add("decoder.norm.weight", {3}, zeros);
  parameters.finalise(DType::f32, 1, select_trainable({{"*.1.*", "*.norm.weight"}, {}}, parameters));
  const std::string table = trainable_table(parameters);
  std::istringstream lines(table);
  std::vector<std::string> words;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name, shape, count, state;
    if (fields >> name >> shape >> count >> state)
      words.push_back(name + " " + shape + " " + count + " " + state);
  }
  REQUIRE(words.size() == 6);
  CHECK(words[0] == "decoder.layers.0,2-3,10.mlp.up.weight (2,3) 24 frozen");
  CHECK(words[1] == "decoder.layers.0-3,10.mlp.norm.weight (3) 15 trains");
  CHECK(words[2] == "decoder.layers.1.mlp.up.weight (2,3) 6 trains");
  CHECK(words[3] == "decoder.layers.11.mlp.up.weight (5,3) 15 frozen");
  CHECK(words[4] == "decoder.norm.weight (3) 3 trains");
  CHECK(words[5] == "7 of 12 tensors");
}
