// What the .cpp files that call oneDNN share: its engine, how it is told of matrices, and how many threads it
// sees. No header, since oneDNN's types stand in none.
#pragma once

#include <omp.h>

#include <dnnl.hpp>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "core/dtype.h"

namespace attnlab::kernels::onednn {

using dnnl::memory;

// The library allocates room to repack its operands anew for each product. By default glibc hands such blocks
// back to the system each time, and every page is cleared again.
inline void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

inline const dnnl::engine& engine() {
  static const dnnl::engine cpu = [] {
    keep_freed_memory();
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return cpu;
}

inline memory::data_type library_type(DType type) {
  return type == DType::bf16 ? memory::data_type::bf16 : memory::data_type::f32;
}

inline memory::desc describe(DType type, Index rows, Index columns, Index stride, bool transposed) {
  return {
      {rows, columns}, library_type(type), transposed ? memory::dims{1, stride} : memory::dims{stride, 1}};
}

// While it lives, the library works with so many threads on the calling one's behalf, whatever the team.
class Threads {
 public:
  explicit Threads(int count) : before_(omp_get_max_threads()), changed_(before_ != count) {
    if (changed_) omp_set_num_threads(count);
  }
  ~Threads() {
    if (changed_) omp_set_num_threads(before_);
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
  bool changed_;
};

}  // namespace attnlab::kernels::onednn
