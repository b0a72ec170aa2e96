#include "kernels/cpu.h"

#include <dnnl.hpp>
#include <fstream>

#include "core/error.h"

namespace attnlab::kernels {
namespace {

// Does the library make a bf16 product at all? (Below AVX-512 it refuses.)
bool library_makes_bf16_products() {
  try {
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    const dnnl::memory::desc square({64, 64}, dnnl::memory::data_type::bf16, dnnl::memory::format_tag::ab);
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::matmul::primitive_desc product(engine, square, square, square);
#else
    const dnnl::matmul::primitive_desc product(dnnl::matmul::desc(square, square, square), engine);
#endif
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

// The values of cpu_isa are sets of features, so that a superset contains the bits of what it extends.
bool isa_includes(dnnl::cpu_isa wanted) {
  const auto bits = static_cast<unsigned>(wanted);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & bits) == bits;
}

}  // namespace

bool has_native_bf16() {
  static const bool native = isa_includes(dnnl::cpu_isa::avx512_core_bf16) && library_makes_bf16_products();
  return native;
}

std::string isa_name() {
  using dnnl::cpu_isa;
#if DNNL_VERSION_MAJOR >= 3
  if (isa_includes(cpu_isa::avx512_core_amx_fp16)) return "avx512_core_amx_fp16";
#endif
  if (isa_includes(cpu_isa::avx512_core_amx)) return "avx512_core_amx";
  if (isa_includes(cpu_isa::avx512_core_bf16)) return "avx512_core_bf16";
  if (isa_includes(cpu_isa::avx512_core_vnni)) return "avx512_core_vnni";
  if (isa_includes(cpu_isa::avx512_core)) return "avx512_core";
  if (isa_includes(cpu_isa::avx2_vnni)) return "avx2_vnni";
  if (isa_includes(cpu_isa::avx2)) return "avx2";
  if (isa_includes(cpu_isa::avx)) return "avx";
  return isa_includes(cpu_isa::sse41) ? "sse41" : "baseline";
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string onednn_version() {
  const dnnl_version_t& version = *dnnl_version();
  return join_text(version.major, '.', version.minor, '.', version.patch);
}

}  // namespace attnlab::kernels
