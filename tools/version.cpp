#include "version.h"

#include <fmt/core.h>

#include "kernels/cpu.h"

namespace attnlab {

std::string version_text() {
  return fmt::format("attnlab {} ({}, {})\noneDNN {}, instructions {}, bf16 products {}\n{}", kVersion,
                     kBuildType, kCompiler, kernels::onednn_version(), kernels::isa_name(),
                     kernels::has_native_bf16() ? "native" : "emulated", kernels::cpu_name());
}

}  // namespace attnlab
