// Published models that are damaged or hostile: a named error each.
#include <sys/stat.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "config/error.h"
#include "config/spec.h"
#include "support/catch.h"
#include "support/scratch.h"
#include "train/build_model.h"
#include "train/published_model.h"
#include "train/starting_weights.h"

using namespace attnlab;

namespace {

namespace fs = std::filesystem;

void write_all(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// A copy of a golden model that a test may spoil.
class Spoilt {
 public:
  explicit Spoilt(const std::string& name) {
    const fs::path from = fs::path(ATTNLAB_SOURCE_DIR) / "tests/golden/published" / name;
    for (const auto& entry : fs::directory_iterator(from))
      fs::copy_file(entry.path(), folder_.path() / entry.path().filename());
  }
  fs::path path(const std::string& file) const { return folder_.path() / file; }
  std::string bytes(const std::string& file) const { return read_small_file(path(file)); }
  void set_config(const std::string& key, const nlohmann::json& value) const {
    auto config = nlohmann::json::parse(bytes("config.json"));
    config[key] = value;
    write_all(path("config.json"), config.dump());
  }
  // Everything that happens to a model on its way in.
  std::string error() const {
    try {
      ExperimentSpec spec;
      read_spec(Tree::load({}, {"model.from=" + folder_.path().string()}), spec);
      const auto built = build_model(spec, {41, 41, true}, DType::f32, false);
      load_starting_weights(spec, *built);
    } catch (const IoError& error) {
      return error.what();
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  }
  bool says(const std::string& text) const {
    const std::string all = error();
    UNSCOPED_INFO(all);
    return all.find(text) != std::string::npos;
  }

 private:
  ScratchFolder folder_;
};

// Puts a number in the place of the first one of a tensor of four bytes an element.
void overwrite_first(const Spoilt& model, const std::string& tensor, float value) {
  std::string bytes = model.bytes("model.safetensors");
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  const auto json = nlohmann::json::parse(bytes.substr(8, header));
  const std::size_t at = 8 + header + json[tensor]["data_offsets"][0].get<std::size_t>();
  std::memcpy(bytes.data() + at, &value, 4);
  write_all(model.path("model.safetensors"), bytes);
}

}  // namespace

TEST_CASE("a whole published model gives no error") {
  for (const char* name : {"gpt2", "bert", "llama"}) CHECK(Spoilt(name).error().empty());
}

TEST_CASE("NaN and infinities are reported by tensor") {
  const Spoilt model("bert");
  overwrite_first(model, "bert.encoder.layer.1.output.dense.weight", std::nanf(""));
  CHECK(model.says("'bert.encoder.layer.1.output.dense.weight' holds NaN at number 0"));
  overwrite_first(model, "cls.predictions.bias", INFINITY);
  CHECK(model.says("'cls.predictions.bias' holds an infinity at number 0"));
}

TEST_CASE("elements that are no weights, and shapes that do not fit") {
  const Spoilt model("bert");
  std::string bytes = model.bytes("model.safetensors");
  const std::string key = R"("bert.embeddings.LayerNorm.bias":{"dtype":"F32")";
  const std::size_t at = bytes.find(key);
  REQUIRE(at != std::string::npos);
  bytes.replace(at + key.size() - 4, 3, "I32");
  write_all(model.path("model.safetensors"), bytes);
  CHECK(model.says("'bert.embeddings.LayerNorm.bias' has elements of type I32"));
  const Spoilt other("bert");
  other.set_config("hidden_size", 16);
  CHECK(other.says("has the shape [41, 24], but this model's source_embedding.weight wants [41, 16]"));
  CHECK(other.says("and 33 more tensors that do not fit"));
}

TEST_CASE("files that are cut off or lie about their size") {
  for (const std::size_t kept : {0U, 7U, 8U, 100U, 5000U, 20000U}) {
    const Spoilt model("bert");
    write_all(model.path("model.safetensors"), model.bytes("model.safetensors").substr(0, kept));
    CHECK(model.says("model.safetensors"));
  }
  const Spoilt model("bert");
  std::string bytes = model.bytes("model.safetensors");
  const std::uint64_t ten_gigabytes = 10'000'000'000U;
  std::memcpy(bytes.data(), &ten_gigabytes, 8);
  write_all(model.path("model.safetensors"), bytes);
  CHECK(model.says("a header of 10000000000 bytes"));
}

TEST_CASE("an index and its files must agree") {
  const auto with_index = [](const std::function<void(nlohmann::json&)>& change) {
    const Spoilt model("gpt2");
    auto index = nlohmann::json::parse(model.bytes("model.safetensors.index.json"));
    change(index);
    write_all(model.path("model.safetensors.index.json"), index.dump());
    return model.error();
  };
  const auto contains = [](const std::string& text, const char* part) {
    INFO(text);
    return text.find(part) != std::string::npos;
  };
  CHECK(
      contains(with_index([](auto& index) { index["weight_map"]["transformer.ln_f.bias"] = "../elsewhere"; }),
               "lies in no file of this folder"));
  for (const nlohmann::json& place : {nlohmann::json(3), nlohmann::json(".."), nlohmann::json(".")})
    CHECK(contains(with_index([&](auto& index) { index["weight_map"]["transformer.ln_f.bias"] = place; }),
                   "lies in no file of this folder"));
  CHECK(contains(with_index([](auto& index) { index["weight_map"]["a\nerror: b"] = "x"; }),
                 "a name holds control characters"));
  CHECK(contains(
      with_index([](auto& index) { index["weight_map"]["one.more"] = "model-00001-of-00003.safetensors"; }),
      "'one.more' should lie in model-00001-of-00003.safetensors, but does not"));
  CHECK(contains(with_index([](auto& index) { index["weight_map"].erase("transformer.ln_f.bias"); }),
                 "'transformer.ln_f.bias' is not in the index"));
  CHECK(
      contains(with_index([](auto& index) { index["weight_map"]["x"] = "model-9.safetensors"; }), "model-9"));
  CHECK(contains(with_index([](auto& index) { index = 4; }), "no object 'weight_map'"));
  const Spoilt doubled("gpt2");
  fs::copy_file(doubled.path("model-00001-of-00003.safetensors"), doubled.path("copy.safetensors"));
  auto index = nlohmann::json::parse(doubled.bytes("model.safetensors.index.json"));
  index["weight_map"]["x"] = "copy.safetensors";
  write_all(doubled.path("model.safetensors.index.json"), index.dump());
  CHECK(doubled.says("stands in another file of the same model, too"));
  const Spoilt model("gpt2");
  fs::remove(model.path("model-00002-of-00003.safetensors"));
  CHECK(model.says("model-00002-of-00003.safetensors"));
}

TEST_CASE("a config.json that is damaged, unknown or absurd") {
  const Spoilt damaged("gpt2");
  write_all(damaged.path("config.json"), "{\"model_type\": ");
  CHECK(damaged.says("config.json is damaged"));
  const auto says = [](const char* name, const char* key, const nlohmann::json& value, const char* text) {
    const Spoilt model(name);
    model.set_config(key, value);
    return model.says(text);
  };
  CHECK(says("gpt2", "model_type", "mamba",
             "the type 'mamba', which attnlab cannot read; known families are bert"));
  CHECK(says("gpt2", "n_layer", 1000000000, "more than the"));
  CHECK(says("gpt2", "n_layer", "three", "'n_layer' is \"three\", expected a whole number"));
  CHECK(says("gpt2", "n_layer", -1, "model.layers"));
  CHECK(says("gpt2", "n_embd", 9e15, "'n_embd' is"));
  CHECK(says("gpt2", "scale_attn_by_inverse_layer_idx", true, "attnlab has no other"));
  CHECK(says("llama", "hidden_act", "gelu", "attnlab has no other"));
  CHECK(says("llama", "num_key_value_heads", 4, "cannot share 4 key and value heads evenly"));
  CHECK(says("bert", "position_embedding_type", "relative_key", "attnlab has no other"));
}

TEST_CASE("a config.json that asks for more memory than its weights fill") {
  const auto says = [](const char* name, const char* key, const nlohmann::json& value) {
    const Spoilt model(name);
    model.set_config(key, value);
    return model.says("config.json: speaks of") && model.says("more than the");
  };
  CHECK(says("gpt2", "n_positions", 500000000));
  CHECK(says("gpt2", "n_inner", 500000000));
  CHECK(says("bert", "max_position_embeddings", 500000000));
  CHECK(says("bert", "type_vocab_size", 500000000));
  CHECK(says("llama", "head_dim", 100000000));
  const Spoilt wide("gpt2");
  wide.set_config("n_embd", 1000002);
  for (const char* key : {"vocab_size", "n_inner", "n_positions"}) wide.set_config(key, 1);
  CHECK(wide.says("more than the"));
  const Spoilt rotary("llama");  // positions without a table
  rotary.set_config("max_position_embeddings", 500000000);
  CHECK(rotary.error().empty());
}

TEST_CASE("JSON that is nested a million levels deep is refused, brackets in text are not") {
  const std::string deep = std::string(1000000, '[') + std::string(1000000, ']');
  const Spoilt model("gpt2");
  std::string config = model.bytes("config.json");
  config.insert(config.find('{') + 1, "\"deep\": " + deep + ", ");
  write_all(model.path("config.json"), config);
  CHECK(model.says("config.json is damaged: nested more than 64 levels deep"));
  const Spoilt other("gpt2");
  write_all(other.path("model.safetensors.index.json"), R"({"weight_map": {"x": )" + deep + "}}");
  CHECK(other.says("index.json is damaged: nested more than 64 levels deep"));
  const Spoilt text("gpt2");
  text.set_config("_name_or_path", "\"" + std::string(100, '['));
  CHECK(text.error().empty());
}

TEST_CASE("a key that stands twice in one object is refused, in an index and in config.json") {
  const auto with_twice = [](const char* file, const std::string& key, const std::string& value) {
    const Spoilt model("gpt2");
    std::string text = model.bytes(file);
    text.insert(text.find("\"" + key + "\""), "\"" + key + "\": " + value + ", ");
    write_all(model.path(file), text);
    return model.says("is damaged: the key '" + key + "' stands twice in one object");
  };
  CHECK(with_twice("config.json", "n_layer", "1"));
  CHECK(with_twice("model.safetensors.index.json", "transformer.ln_f.bias", "\"elsewhere\""));
}

TEST_CASE("Llama's rotary positions: only plain ones over whole heads") {
  const auto error = [](const char* key, const nlohmann::json& value) {
    const Spoilt model("llama");
    model.set_config(key, value);
    return model.error();
  };
  const auto refused = [&error](const char* key, const nlohmann::json& value) {
    return error(key, value).find("attnlab has no other") != std::string::npos;
  };
  CHECK(refused("partial_rotary_factor", 0.5));
  CHECK(refused("rope_parameters", {{"rope_type", "default"}, {"partial_rotary_factor", 0.5}}));
  CHECK(refused("rope_parameters", {{"type", "linear"}, {"factor", 8}}));
  CHECK(refused("rope_parameters", {{"rope_type", "llama3"}, {"factor", 8}}));
  CHECK(refused("rope_scaling", {{"type", "dynamic"}, {"factor", 2}}));
  CHECK(refused("rope_scaling", {{"factor", 2}}));
  CHECK(error("rope_scaling", {{"rope_type", "default"}}).empty());
  CHECK(error("rope_scaling", nullptr).empty());
  CHECK(error("partial_rotary_factor", 1).empty());
}

TEST_CASE("what is no file, names that would forge lines, what is missing") {
  const Spoilt pipe("llama");
  fs::remove(pipe.path("model.safetensors"));
  REQUIRE(::mkfifo(pipe.path("model.safetensors").c_str(), 0600) == 0);
  CHECK(pipe.says("model.safetensors: not a file"));
  const Spoilt forged("llama");
  const std::string header = R"({"a\nerror: all is well":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})";
  const std::uint64_t bytes = header.size();
  write_all(forged.path("model.safetensors"), std::string(reinterpret_cast<const char*>(&bytes), 8) + header);
  CHECK(forged.says("damaged safetensors file: a name holds control characters"));
  const Spoilt bare("llama");
  fs::remove(bare.path("config.json"));
  CHECK(bare.says("(no config.json): 'hidden_size' is missing"));
  const Spoilt pickled("llama");
  fs::rename(pickled.path("model.safetensors"), pickled.path("pytorch_model.bin"));
  CHECK_THROWS_WITH(WeightFiles(pickled.path("")), containing("pytorch_model.bin cannot be read"));
}
