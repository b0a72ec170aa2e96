#include "core/dtype.h"

namespace attnlab {

std::string to_string(DType type) {
  return type == DType::f32 ? "f32" : type == DType::bf16 ? "bf16" : "f64";
}

}  // namespace attnlab
