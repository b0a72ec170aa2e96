#include "kernels/matmul_library.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "kernels/matmul_scratch.h"
#include "kernels/onednn.inl"

namespace attnlab::kernels {
namespace detail {
namespace {

using namespace onednn;

constexpr Index kAny = DNNL_RUNTIME_DIM_VAL;  // a size or stride that is known only when the product runs
constexpr std::size_t kMostPrimitives = 2048;

const dnnl::stream& stream() {
  thread_local const dnnl::stream own(engine());
  return own;
}

void append(dnnl::post_ops& steps, dnnl::algorithm algorithm, float alpha) {
#if DNNL_VERSION_MAJOR >= 3
  steps.append_eltwise(algorithm, alpha, 0);
#else
  steps.append_eltwise(1, algorithm, alpha, 0);
#endif
}

dnnl::primitive_attr attributes(const MatmulOptions& options) {
  dnnl::post_ops steps;
  if (options.alpha != 1) append(steps, dnnl::algorithm::eltwise_linear, static_cast<float>(options.alpha));
  if (options.accumulate) steps.append_sum(1);
  if (options.activation == Activation::relu) append(steps, dnnl::algorithm::eltwise_relu, 0);
  if (options.activation == Activation::gelu) append(steps, dnnl::algorithm::eltwise_gelu_erf, 0);
  if (options.activation == Activation::gelu_tanh) append(steps, dnnl::algorithm::eltwise_gelu_tanh, 0);
  dnnl::primitive_attr result;
  result.set_post_ops(steps);
  result.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return result;
}

// The memory of the four operands.
struct Descriptions {
  memory::desc a, b, c, bias;

  Descriptions(const MatrixView& a_, const MatrixView& b_, const MutableMatrixView& c_,
               const MatmulOptions& options)
      : a(describe(a_.type, a_.rows, a_.columns, a_.stride, a_.transposed)),
        b(describe(b_.type, b_.rows, b_.columns, b_.stride, b_.transposed)),
        c(describe(c_.type, c_.rows, c_.columns, c_.stride, false)) {
    if (options.bias) bias = describe(options.bias_type, 1, c_.columns, c_.columns, false);
  }
};

dnnl::matmul::primitive_desc plan(const Descriptions& operands, const dnnl::primitive_attr& attr) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), operands.a, operands.b, operands.bias, operands.c, attr};
#else
  return {dnnl::matmul::desc(operands.a, operands.b, operands.bias, operands.c), attr, engine()};
#endif
}

std::atomic<Index> creations{0};

class Primitive {
 public:
  Primitive(const Descriptions& operands, const MatmulOptions& options) {
    const auto chosen = plan(operands, attributes(options));
    scratch_ = chosen.scratchpad_desc();
    primitive_ = dnnl::matmul(chosen);
    ++creations;
  }

  void run(const Descriptions& operands, const void* a, const void* b, void* c, const void* bias) const {
    thread_local Scratch scratch;
    const std::size_t bytes = scratch_.get_size();
    const memory memories[] = {wrap(operands.a, a), wrap(operands.b, b), wrap(operands.c, c),
                               bias ? wrap(operands.bias, bias) : memory(),
                               bytes ? wrap(scratch_, scratch.get(bytes)) : memory()};
    constexpr int kNames[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_BIAS,
                              DNNL_ARG_SCRATCHPAD};
    std::array<dnnl_exec_arg_t, 5> arguments{};
    int count = 0;
    for (int i = 0; i < 5; ++i)
      if (memories[i]) arguments[static_cast<std::size_t>(count++)] = {kNames[i], memories[i].get()};
    dnnl::error::wrap_c_api(dnnl_primitive_execute(primitive_.get(), stream().get(), count, arguments.data()),
                            "a matrix product failed");
  }

 private:
  static memory wrap(const memory::desc& description, const void* data) {
    return memory(description, engine(), const_cast<void*>(data));
  }

  memory::desc scratch_;
  dnnl::matmul primitive_;
};

// Everything that a primitive depends on.
using Key = std::array<Index, 8>;

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash = 0;
    for (const Index part : key) {
      hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15ULL;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

Key key_of(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
           const MatmulOptions& options) {
  const Index flags = Index{a.transposed} | Index{b.transposed} << 1 | Index{options.accumulate} << 2 |
                      Index{options.bias != nullptr} << 3 | static_cast<Index>(options.activation) << 4 |
                      static_cast<Index>(a.type) << 8 | static_cast<Index>(c.type) << 12 |
                      (options.bias ? static_cast<Index>(options.bias_type) << 16 : 0);
  const auto alpha = std::bit_cast<std::uint32_t>(static_cast<float>(options.alpha));
  return {a.rows, a.columns, b.columns, a.stride, b.stride, c.stride, flags, alpha};
}

// Primitives by key. Full, it starts anew: a guard against programs that use ever new shapes.
class Cache {
 public:
  std::shared_ptr<const Primitive> get(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                                       const MatmulOptions& options) {
    const Key key = key_of(a, b, c, options);
    {
      const std::shared_lock lock(mutex_);
      if (const auto found = primitives_.find(key); found != primitives_.end()) return found->second;
    }
    const std::unique_lock lock(mutex_);
    if (primitives_.size() >= kMostPrimitives) primitives_.clear();
    auto& place = primitives_[key];
    if (!place) place = std::make_shared<const Primitive>(Descriptions(a, b, c, options), options);
    return place;
  }

 private:
  std::shared_mutex mutex_;
  std::unordered_map<Key, std::shared_ptr<const Primitive>, KeyHash> primitives_;
};

Cache& cache() {
  static Cache primitives;
  return primitives;
}

template <class View>
View any_shape(View view) {
  view.rows = view.columns = view.stride = kAny;
  return view;
}

bool is_dense(const MatrixView& m) { return m.stride == (m.transposed ? m.rows : m.columns); }

// The library's kernels for one exact shape need dense operands. They are kept to the row counts of the block
// table and to round widths, so that ragged batches and lengths do not fill the cache.
bool deserves_exact_shape(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c) {
  const bool block = c.rows >= 64 && c.rows <= 256 && c.rows % 32 == 0;
  const bool round = a.columns % 16 == 0 && c.columns % 16 == 0;
  return block && round && is_dense(a) && is_dense(b);
}

// bf16 gains more from such a kernel than it costs to copy the result into place, if that stays in the cache.
bool deserves_copy(const MutableMatrixView& c, const MatmulOptions& options) {
  constexpr Index kMostElements = Index{256} * 2048;
  return c.type == DType::bf16 && !options.accumulate && c.rows * c.columns <= kMostElements;
}

void run_primitive(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                   const MatmulOptions& options, bool exact) {
  const auto primitive =
      exact ? cache().get(a, b, c, options) : cache().get(any_shape(a), any_shape(b), any_shape(c), options);
  primitive->run(Descriptions(a, b, c, options), a.data, b.data, c.data, options.bias);
}

void run_and_copy(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                  const MatmulOptions& options) {
  thread_local Scratch scratch;
  auto* dense = scratch.array<bfloat16>(static_cast<std::size_t>(c.rows * c.columns));
  run_primitive(a, b, mutable_matrix(dense, c.rows, c.columns), options, true);
  for (Index i = 0; i < c.rows; ++i)
    std::memcpy(static_cast<bfloat16*>(c.data) + i * c.stride, dense + i * c.columns,
                static_cast<std::size_t>(c.columns) * sizeof(bfloat16));
}

}  // namespace

void library_product(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                     const MatmulOptions& options) try {
  const Threads one(1);  // whatever the team, it picks the same primitive and the same order of sums
  const bool exact = deserves_exact_shape(a, b, c), dense = c.stride == c.columns;
  if (exact && !dense && deserves_copy(c, options)) return run_and_copy(a, b, c, options);
  run_primitive(a, b, c, options, exact && dense);
} catch (const dnnl::error& error) {
  throw Error(join_text("oneDNN cannot multiply ", to_string(a.type), " [", a.rows, ", ", a.columns, "] by [",
                        b.rows, ", ", b.columns, "]: ", error.what()));
}

}  // namespace detail

Index primitive_creations() { return detail::creations; }

}  // namespace attnlab::kernels
