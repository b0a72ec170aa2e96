// What the CPU and the library can do, asked at run time.
#pragma once

#include <string>

namespace attnlab::kernels {

bool has_native_bf16();  // can this CPU multiply bf16 (AVX512-BF16 or AMX), as far as the library uses it?
std::string isa_name();  // the instruction set the library chose, such as "avx512_core_bf16"
std::string cpu_name();  // the CPU's own name, such as "AMD EPYC 9B45"; "unknown" where it cannot be read
std::string onednn_version();  // such as "2.6.3"

}  // namespace attnlab::kernels
