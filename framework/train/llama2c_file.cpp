#include "train/llama2c_file.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <cstring>

namespace attnlab {
namespace {

constexpr std::uint64_t kBytes = sizeof(float);

// One kind of tensor: layers is 0 for what a model has once.
struct Block {
  std::string before, after;
  Index layers;
  std::vector<Index> shape;
};

double count(const Block& block) {
  double numbers = static_cast<double>(block.layers == 0 ? 1 : block.layers);
  for (const Index size : block.shape) numbers *= static_cast<double>(size);
  return numbers;
}

std::string name_of(const Block& block, Index layer) {
  return block.layers == 0 ? block.before : "layers." + std::to_string(layer) + "." + block.after;
}

}  // namespace

SafetensorsHeader llama2c_header(std::string_view numbers, std::uint64_t data_bytes,
                                 const std::string& file) {
  const std::string no_such_file = file +
                                   ": not a file of llama2.c (.bin files of other programs, such as "
                                   "PyTorch's, cannot be read; expected safetensors): ";
  std::array<std::int32_t, 7> sizes{};
  if (numbers.size() < kLlama2cHeaderBytes) throw IoError(no_such_file + "too short");
  std::memcpy(sizes.data(), numbers.data(), kLlama2cHeaderBytes);
  const auto [width, hidden, layers, heads, key_heads, signed_vocabulary, positions] = sizes;
  const Index vocabulary = std::abs(Index{signed_vocabulary});
  const bool possible = width > 0 && hidden > 0 && layers > 0 && heads > 0 && key_heads > 0 &&
                        vocabulary > 0 && positions > 0 && width % heads == 0 && width / heads % 2 == 0 &&
                        heads % key_heads == 0;
  if (!possible) throw IoError(no_such_file + "its first numbers are no sizes of a model");
  const Index head_width = width / heads, shared_width = head_width * key_heads;
  std::vector<Block> blocks{
      {"tok_embeddings.weight", "", 0, {vocabulary, width}},
      {"", "attention_norm.weight", layers, {width}},
      {"", "attention.wq.weight", layers, {width, width}},
      {"", "attention.wk.weight", layers, {shared_width, width}},
      {"", "attention.wv.weight", layers, {shared_width, width}},
      {"", "attention.wo.weight", layers, {width, width}},
      {"", "ffn_norm.weight", layers, {width}},
      {"", "feed_forward.w1.weight", layers, {hidden, width}},
      {"", "feed_forward.w2.weight", layers, {width, hidden}},
      {"", "feed_forward.w3.weight", layers, {hidden, width}},
      {"norm.weight", "", 0, {width}},
      {"freqs_cos", "", 0, {positions, head_width / 2}},
      {"freqs_sin", "", 0, {positions, head_width / 2}},
  };
  if (signed_vocabulary < 0) blocks.push_back({"output.weight", "", 0, {vocabulary, width}});
  double expected = 0;  // exact below 2^53, which no file reaches
  for (const Block& block : blocks) expected += count(block) * kBytes;
  if (expected != static_cast<double>(data_bytes))
    throw IoError(join_text(no_such_file, "its sizes (", width, " columns, ", layers,
                            " layers, feed-forward ", hidden, ", vocabulary ", vocabulary, ") need ",
                            fmt::format("{:.0f}", expected), " bytes, the file has ", data_bytes));
  SafetensorsHeader header;
  std::uint64_t begin = 0;
  for (const Block& block : blocks)
    for (Index layer = 0; layer == 0 || layer < block.layers; ++layer) {
      TensorEntry entry{name_of(block, layer), FileType::f32, block.shape, begin, begin + kBytes};
      for (const Index size : block.shape)
        entry.end = begin + (entry.end - begin) * static_cast<std::uint64_t>(size);
      begin = entry.end;
      header.entries.push_back(std::move(entry));
    }
  header.metadata = {{"dim", std::to_string(width)},
                     {"hidden_dim", std::to_string(hidden)},
                     {"n_layers", std::to_string(layers)},
                     {"n_heads", std::to_string(heads)},
                     {"n_kv_heads", std::to_string(key_heads)},
                     {"vocab_size", std::to_string(vocabulary)},
                     {"max_seq_len", std::to_string(positions)},
                     {"tied_embeddings", signed_vocabulary < 0 ? "false" : "true"}};
  return header;
}

}  // namespace attnlab
