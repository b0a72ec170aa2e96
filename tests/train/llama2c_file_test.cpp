// Weight files of llama2.c: a small one of our own making, and ones that are none.
#include "train/llama2c_file.h"

#include <fstream>
#include <limits>

#include "support/catch.h"
#include "support/scratch.h"
#include "train/published_model.h"

using namespace attnlab;

namespace {

using Sizes =
    std::vector<std::int32_t>;  // width, feed-forward, layers, heads, key/value heads, vocabulary, positions

std::string bytes_of(const Sizes& sizes) {
  return {reinterpret_cast<const char*>(sizes.data()), sizes.size() * sizeof(std::int32_t)};
}

// 8 columns, feed-forward 12, 2 layers, 4 heads of 2 columns, 2 key/value heads, vocabulary 5, 3 positions.
const Sizes kSmall{8, 12, 2, 4, 2, 5, 3};
constexpr std::int32_t kNumbers = 5 * 8 + 2 * (8 + 64 + 32 + 32 + 64 + 8 + 3 * 96) + 8 + 2 * 3 * 1;

std::string file_of(const Sizes& sizes, std::int32_t numbers) {
  std::string bytes = bytes_of(sizes);
  for (std::int32_t i = 0; i < numbers; ++i) {
    const auto number = static_cast<float>(i);
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  return bytes;
}

}  // namespace

TEST_CASE("a file of llama2.c: where each tensor lies") {
  const ScratchFolder scratch;
  const auto path = scratch.path() / "small.bin";
  std::ofstream(path, std::ios::binary) << file_of(kSmall, kNumbers);
  SafetensorsFile file(path);
  CHECK(file.entries().size() == 1 + 2 * 9 + 3);
  const auto first = [&file](const std::string& name) {
    return file.read(*file.find(name), DType::f64).to_doubles().front();
  };
  CHECK(first("tok_embeddings.weight") == 0);
  CHECK(first("layers.0.attention_norm.weight") == 40);
  CHECK(first("layers.1.attention_norm.weight") == 48);
  CHECK(first("layers.0.attention.wq.weight") == 56);
  CHECK(first("layers.1.attention.wk.weight") == 56 + 128 + 32);
  CHECK(file.find("layers.0.attention.wk.weight")->shape == std::vector<Index>{4, 8});
  CHECK(file.find("layers.0.feed_forward.w2.weight")->shape == std::vector<Index>{8, 12});
  CHECK(first("norm.weight") == kNumbers - 6 - 8);
  CHECK(file.find("output.weight") == nullptr);
  CHECK(is_published_model(path));
  CHECK(published_keys(path).find("feed_forward: 12\n") != std::string::npos);
  CHECK(published_keys(path).find("tie: output\n") != std::string::npos);

  Sizes own_output = kSmall;
  own_output[5] = -5;
  std::ofstream(path, std::ios::binary) << file_of(own_output, kNumbers + 40);
  SafetensorsFile untied(path);
  CHECK(untied.read(*untied.find("output.weight"), DType::f64).to_doubles().front() == kNumbers);
  CHECK(published_keys(path).find("tie: none\n") != std::string::npos);
}

TEST_CASE("what is no file of llama2.c is an error that says so") {
  const auto error = [](const std::string& header, std::uint64_t bytes) {
    try {
      llama2c_header(header, bytes, "x.bin");
    } catch (const IoError& problem) {
      return std::string(problem.what());
    }
    return std::string();
  };
  constexpr std::uint64_t kRight = kNumbers * 4;
  CHECK(error(bytes_of(kSmall), kRight).empty());
  CHECK(error(bytes_of(kSmall), kRight - 1).find("need 4184 bytes, the file has 4183") != std::string::npos);
  CHECK(error(bytes_of(kSmall), kRight + 4).find("the file has 4188") != std::string::npos);
  CHECK(error(bytes_of(kSmall).substr(0, 27), 0).find("too short") != std::string::npos);
  CHECK(error("PK\x03\x04 an archive of PyTorch, which is a zip", 100).find("expected safetensors") !=
        std::string::npos);
  for (std::size_t i = 0; i < kSmall.size(); ++i)
    for (const std::int32_t wrong : {0, -1, std::numeric_limits<std::int32_t>::min(), 7, 1 << 30,
                                     std::numeric_limits<std::int32_t>::max()}) {
      Sizes sizes = kSmall;
      sizes[i] = wrong;
      CHECK(error(bytes_of(sizes), kRight).find("x.bin: not a file of llama2.c") == 0);
    }
  const auto most = std::numeric_limits<std::int32_t>::max();
  CHECK_FALSE(error(bytes_of({most - 1, most, most, 1, 1, most, most}), kRight).empty());
}
