// Weight files of llama2.c, format 0 (stories15M.bin): seven whole numbers of 32 bits (width, feed-forward,
// layers, heads, key/value heads, vocabulary, positions), then f32 numbers, each kind of tensor for all
// layers one after another. A negative vocabulary says that the output has a matrix of its own.
#pragma once

#include <string>
#include <string_view>

#include "train/safetensors_header.h"

namespace attnlab {

constexpr std::uint64_t kLlama2cHeaderBytes = 28;

// What the header of a safetensors file with these tensors would say: names as in llama2.c's code, the sizes
// as metadata. `numbers` are the first kLlama2cHeaderBytes bytes. Throws IoError, with `file` in front, where
// sizes make no model, or one of another size than `data_bytes`.
SafetensorsHeader llama2c_header(std::string_view numbers, std::uint64_t data_bytes, const std::string& file);

}  // namespace attnlab
