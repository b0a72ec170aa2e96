#include "kernels/vectorise.h"

#include "kernels/cpu.h"

namespace attnlab::kernels {
namespace {

VectorIsa choose() {
#ifdef __x86_64__
  const std::string allowed = isa_name();
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (allowed.starts_with("avx512") && wide) return VectorIsa::avx512;
  if (allowed.starts_with("avx") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return VectorIsa::avx2;
#endif
  return VectorIsa::baseline;
}

bool has_bf16_vectors() {
#ifdef __x86_64__
  const std::string allowed = isa_name();
  return vector_isa() == VectorIsa::avx512 && __builtin_cpu_supports("avx512bf16") &&
         (allowed.starts_with("avx512_core_bf16") || allowed.starts_with("avx512_core_amx"));
#else
  return false;
#endif
}

}  // namespace

VectorIsa vector_isa() {
  static const VectorIsa isa = choose();
  return isa;
}

bool vectors_round_to_bf16() {
  static const bool has = has_bf16_vectors();
  return has;
}

}  // namespace attnlab::kernels
