// The JSON header of a safetensors file, checked against the size of the file.
#pragma once

#include "train/safetensors.h"

namespace attnlab {

struct SafetensorsHeader {
  std::vector<TensorEntry> entries;  // in the order of their bytes
  std::map<std::string, std::string> metadata;
};

// Throws IoError, with `file` in front: not JSON, duplicate names, sizes that do not fit, overlap, holes,
// bytes missing or too many among `data_bytes`.
SafetensorsHeader parse_safetensors_header(const std::string& json, std::uint64_t data_bytes,
                                           const std::string& file);

// Whether a name can be shown: no control characters, which could forge lines of an error.
bool printable(std::string_view name);

// The header text for tensors laid out one after another, padded to a multiple of eight bytes.
std::string make_safetensors_header(const std::vector<NamedTensor>& tensors,
                                    const std::map<std::string, std::string>& metadata);

}  // namespace attnlab
