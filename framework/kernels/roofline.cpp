#include "kernels/roofline.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "core/tensor.h"
#include "kernels/onednn.inl"

namespace attnlab::kernels {
namespace {

using namespace onednn;
using Clock = std::chrono::steady_clock;

// Sizes of blocks; 0: all.
struct Way {
  Index rows = 0, columns = 0;
  bool packed = false;
  bool whole() const { return rows == 0 && columns == 0; }
  std::string text() const {
    std::string sizes = whole() ? "library's threads"
                                : join_text("blocks of ", rows ? join_text(rows) : "all", " x ",
                                            columns ? join_text(columns) : "all");
    return sizes + (packed ? ", b packed" : "");
  }
};

dnnl::matmul::primitive_desc plan(const memory::desc& a, const memory::desc& b, const memory::desc& c) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), a, b, c};
#else
  return {dnnl::matmul::desc(a, b, c), engine()};
#endif
}

// The operands of a product, and the product done in one way.
class Trial {
 public:
  Trial(const ProductShape& shape, const Way& way)
      : shape_(shape),
        rows_(way.rows ? way.rows : shape.rows),
        columns_(way.columns ? way.columns : shape.columns),
        threads_(way.whole() ? thread_count() : 1),
        a_(Tensor::filled({shape.rows, shape.depth}, shape.type, 0.5)),
        b_(Tensor::filled({shape.depth, shape.columns}, shape.type, 0.5)),
        c_(Tensor::zeros({shape.rows, shape.columns}, shape.result_type)) {
    const Threads own(threads_);
    for (Index row = 0; row < shape.rows; row += rows_)
      for (Index column = 0; column < shape.columns; column += columns_) add_block(row, column, way.packed);
  }

  void run() const {
    if (blocks_.size() == 1 || threads_ > 1) {
      const Threads own(threads_);
      for (const Block& block : blocks_) run_block(block);
      return;
    }
    parallel_items(static_cast<Index>(blocks_.size()), [this](Index i) {
      const Threads own(1);
      run_block(blocks_[static_cast<std::size_t>(i)]);
    });
  }

 private:
  struct Block {
    dnnl::matmul product;
    memory a, b, c;
  };

  static memory at(const memory::desc& description, const Tensor& tensor, Index element) {
    auto* data = static_cast<std::byte*>(tensor.raw()) + element * size_of(tensor.type());
    return {description, engine(), data};
  }

  void add_block(Index row, Index column, bool packed) {
    const Index M = std::min(rows_, shape_.rows - row), N = std::min(columns_, shape_.columns - column);
    const Index K = shape_.depth, a_stride = shape_.a_transposed ? shape_.rows : K;
    const Index b_stride = shape_.b_transposed ? K : shape_.columns;
    const auto a = describe(shape_.type, M, K, a_stride, shape_.a_transposed);
    const auto b = describe(shape_.type, K, N, b_stride, shape_.b_transposed);
    const auto c = describe(shape_.result_type, M, N, shape_.columns, false);
    const memory::desc any({K, N}, library_type(shape_.type), memory::format_tag::any);
    const auto chosen = plan(a, packed ? any : b, c);
    const memory b_here = at(b, b_, shape_.b_transposed ? column * b_stride : column);
    blocks_.push_back({dnnl::matmul(chosen), at(a, a_, shape_.a_transposed ? row : row * a_stride),
                       packed ? pack(b_here, chosen.weights_desc(), column) : b_here,
                       at(c, c_, row * shape_.columns + column)});
  }

  // b's columns from `column` on in the order that a product wants, made once for each order.
  memory pack(const memory& b, const memory::desc& wanted, Index column) {
    for (const auto& [place, packed] : packed_)
      if (place == column && packed.get_desc() == wanted) return packed;
    memory packed(wanted, engine());
    dnnl::stream stream(engine());
    dnnl::reorder(b, packed).execute(stream, const_cast<memory&>(b), packed);
    stream.wait();
    packed_.emplace_back(column, packed);
    return packed;
  }

  static void run_block(const Block& block) {
    thread_local dnnl::stream stream(engine());
    block.product.execute(stream,
                          {{DNNL_ARG_SRC, block.a}, {DNNL_ARG_WEIGHTS, block.b}, {DNNL_ARG_DST, block.c}});
  }

  ProductShape shape_;
  Index rows_, columns_;
  int threads_;
  Tensor a_, b_, c_;
  std::vector<std::pair<Index, memory>> packed_;  // first column, and its columns packed
  std::vector<Block> blocks_;
};

std::vector<Way> ways_of(const ProductShape& shape) {
  std::vector<Way> ways;
  for (const bool packed : {false, true}) {
    if (packed && !shape.b_is_weight) continue;
    ways.push_back({0, 0, packed});
    for (const Index rows : {64, 128, 256, 512})
      for (const Index columns : {0, 256, 512, 1024}) {
        const Index wide = columns ? columns : shape.columns;
        const Index blocks = ((shape.rows + rows - 1) / rows) * ((shape.columns + wide - 1) / wide);
        if (rows < shape.rows && columns < shape.columns && blocks <= 512)
          ways.push_back({rows, columns, packed});
      }
    // Few rows: columns alone are cut.
    for (const Index columns : {128, 512, 4096})
      if (columns < shape.columns) ways.push_back({0, columns, packed});
  }
  return ways;
}

// The best time of many runs; of one alone where it takes much longer than `record`.
double best_seconds(const Trial& trial, double most, double record) {
  trial.run();
  double best = 1e30, total = 0;
  for (int i = 0; i < 3 || (total < most && i < 1000); ++i) {
    const auto start = Clock::now();
    trial.run();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::min(best, seconds);
    total += seconds;
    if (seconds > 2 * record) break;
  }
  return best;
}

}  // namespace

FastestProduct fastest_product(const ProductShape& shape, double seconds_a_way) try {
  FastestProduct fastest{1e30, ""};
  for (const Way& way : ways_of(shape)) {
    const double seconds = best_seconds(Trial(shape, way), seconds_a_way, fastest.seconds);
    if (seconds < fastest.seconds) fastest = {seconds, way.text()};
  }
  return fastest;
} catch (const dnnl::error& error) {
  throw Error(join_text("oneDNN cannot multiply ", to_string(shape.type), ": ", error.what()));
}

}  // namespace attnlab::kernels
