#include "kernels/matmul_library.h"

#include <omp.h>

#include <array>
#include <atomic>
#include <bit>
#include <dnnl.hpp>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "kernels/matmul_scratch.h"

namespace attnlab::kernels {
namespace detail {
namespace {

using dnnl::memory;

// Lets the library see one thread, whatever the team: it then picks the same primitive and the same order of
// sums.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~OneThread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

const dnnl::stream& stream() {
  thread_local const dnnl::stream own(engine());
  return own;
}

memory::data_type library_type(DType type) {
  return type == DType::bf16 ? memory::data_type::bf16 : memory::data_type::f32;
}

memory::desc describe(DType type, Index rows, Index columns, Index stride, bool transposed) {
  const memory::dims strides = transposed ? memory::dims{1, stride} : memory::dims{stride, 1};
  return {{rows, columns}, library_type(type), strides};
}

void append_activation(dnnl::post_ops& steps, dnnl::algorithm algorithm, float alpha) {
#if DNNL_VERSION_MAJOR >= 3
  steps.append_eltwise(algorithm, alpha, 0);
#else
  steps.append_eltwise(1, algorithm, alpha, 0);
#endif
}

dnnl::primitive_attr attributes(const MatmulOptions& options) {
  dnnl::post_ops steps;
  if (options.alpha != 1)
    append_activation(steps, dnnl::algorithm::eltwise_linear, static_cast<float>(options.alpha));
  if (options.accumulate) steps.append_sum(1);
  if (options.activation == Activation::relu) append_activation(steps, dnnl::algorithm::eltwise_relu, 0);
  if (options.activation == Activation::gelu) append_activation(steps, dnnl::algorithm::eltwise_gelu_erf, 0);
  if (options.activation == Activation::gelu_tanh)
    append_activation(steps, dnnl::algorithm::eltwise_gelu_tanh, 0);
  dnnl::primitive_attr result;
  result.set_post_ops(steps);
  result.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return result;
}

dnnl::matmul::primitive_desc plan(const memory::desc& a, const memory::desc& b, const memory::desc& bias,
                                  const memory::desc& c, const dnnl::primitive_attr& attr) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), a, b, bias, c, attr};
#else
  return {dnnl::matmul::desc(a, b, bias, c), attr, engine()};
#endif
}

std::atomic<Index> creations{0};

}  // namespace

class LibraryProduct {
 public:
  LibraryProduct(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                 const MatmulOptions& options)
      : a_(describe(a.type, a.rows, a.columns, a.stride, a.transposed)),
        b_(describe(b.type, b.rows, b.columns, b.stride, b.transposed)),
        c_(describe(c.type, c.rows, c.columns, c.stride, false)) {
    if (options.bias) bias_ = describe(options.bias_type, 1, c.columns, c.columns, false);
    const auto chosen = plan(a_, b_, bias_, c_, attributes(options));
    scratch_ = chosen.scratchpad_desc();
    scratch_bytes_ = scratch_.get_size();
    primitive_ = dnnl::matmul(chosen);
    ++creations;
  }

  void run(const void* a, const void* b, void* c, const void* bias) const {
    thread_local Scratch scratch;
    const auto wrap = [](const memory::desc& description, const void* data) {
      return memory(description, engine(), const_cast<void*>(data));
    };
    std::unordered_map<int, memory> arguments;
    arguments.reserve(8);
    arguments.emplace(DNNL_ARG_SRC, wrap(a_, a));
    arguments.emplace(DNNL_ARG_WEIGHTS, wrap(b_, b));
    arguments.emplace(DNNL_ARG_DST, wrap(c_, c));
    if (bias) arguments.emplace(DNNL_ARG_BIAS, wrap(bias_, bias));
    if (scratch_bytes_ > 0)
      arguments.emplace(DNNL_ARG_SCRATCHPAD, wrap(scratch_, scratch.get(scratch_bytes_)));
    primitive_.execute(stream(), arguments);
  }

 private:
  memory::desc a_, b_, c_, bias_, scratch_;
  std::size_t scratch_bytes_ = 0;
  dnnl::matmul primitive_;
};

namespace {

// Everything that a primitive depends on.
using Key = std::array<Index, 8>;

Key key_of(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
           const MatmulOptions& options) {
  const Index flags = Index{a.transposed} | Index{b.transposed} << 1 | Index{options.accumulate} << 2 |
                      Index{options.bias != nullptr} << 3 | static_cast<Index>(options.activation) << 4 |
                      static_cast<Index>(a.type) << 8 | static_cast<Index>(c.type) << 12 |
                      static_cast<Index>(options.bias_type) << 16;
  const auto alpha = std::bit_cast<std::uint32_t>(static_cast<float>(options.alpha));
  return {a.rows, a.columns, b.columns, a.stride, b.stride, c.stride, flags, alpha};
}

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash = 0;
    for (const Index part : key)
      hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15ULL + (hash >> 29);
    return hash ^ hash >> 32;
  }
};

struct Cache {
  std::shared_mutex mutex;
  std::unordered_map<Key, LibraryProduct, KeyHash> products;
};

}  // namespace

const LibraryProduct& library_product(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                                      const MatmulOptions& options) {
  static Cache cache;
  const Key key = key_of(a, b, c, options);
  {
    const std::shared_lock lock(cache.mutex);
    if (const auto found = cache.products.find(key); found != cache.products.end()) return found->second;
  }
  const std::unique_lock lock(cache.mutex);
  const OneThread one_thread;
  return cache.products.try_emplace(key, a, b, c, options).first->second;
}

void run(const LibraryProduct& product, const void* a, const void* b, void* c, const void* bias) {
  const OneThread one_thread;
  product.run(a, b, c, bias);
}

}  // namespace detail

Index primitive_creations() { return detail::creations; }

}  // namespace attnlab::kernels
