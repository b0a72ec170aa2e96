// The .npz format of NumPy: a zip archive of .npy arrays, which numpy.load reads.
#pragma once

#include <filesystem>
#include <vector>

#include "train/safetensors.h"

namespace attnlab {

// Writes the arrays, compressed, in their order, each as NAME.npy; f32 and f64 keep their type, bf16 becomes
// f32. In one step: a reader never sees half a file. Throws IoError.
void write_npz(const std::filesystem::path& path, const std::vector<NamedTensor>& arrays);

}  // namespace attnlab
