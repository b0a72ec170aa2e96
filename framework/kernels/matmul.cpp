#include "kernels/matmul.h"

#include <algorithm>

#include "core/parallel.h"
#include "core/profile.h"
#include "kernels/matmul_blocks.h"
#include "kernels/matmul_loops.h"
#include "kernels/matmul_scratch.h"
#include "kernels/matmul_serial.h"
#include "kernels/matmul_tile.h"
#include "kernels/matmul_views.h"

namespace attnlab::kernels {
namespace {

using detail::Blocks;

// One product and how it is cut. Items are numbered so that the pieces of a sum come last.
class Cut {
 public:
  Cut(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c, const MatmulOptions& options,
      const Blocks& size)
      : a_(a), b_(b), c_(c), options_(options), size_(size) {
    rows_ = count(c.rows, size_.rows);
    columns_ = count(c.columns, size_.columns);
    pieces_ = std::max<Index>(1, count(a.columns, size_.depth));
  }

  Index items() const { return rows_ * columns_ * pieces_; }
  bool sums_are_cut() const { return pieces_ > 1; }

  // Item i writes its block of c by multiply(a, b, c, options); no piece of a sum may be left over.
  template <class Multiply>
  void run(Index i, const Multiply& multiply) const {
    product(i, block(c_, i), detail::options_at(options_, i % columns_ * size_.columns), multiply);
  }

  // Item i writes its block of its piece's own copy of c.
  template <class Multiply>
  void run_piece(Index i, float* sums, const Multiply& multiply) const {
    float* copy = sums + i / (rows_ * columns_) * c_.rows * c_.columns;
    product(i, block(mutable_matrix(copy, c_.rows, c_.columns), i), {}, multiply);
  }

  // Adds the copies in order and writes rows [begin, end) of c.
  void add_pieces(Index begin, Index end, float* sums) const {
    float* first = sums + begin * c_.columns;
    const Index count = (end - begin) * c_.columns;
    for (Index piece = 1; piece < pieces_; ++piece) {
      const float* other = first + piece * c_.rows * c_.columns;
      for (Index j = 0; j < count; ++j) first[j] += other[j];
    }
    detail::finish(first, detail::block_of(c_, begin, end - begin, 0, c_.columns), options_);
  }

  Index sums_size() const { return pieces_ * c_.rows * c_.columns; }

 private:
  static Index count(Index size, Index piece) { return piece > 0 ? (size + piece - 1) / piece : 0; }

  MutableMatrixView block(const MutableMatrixView& c, Index i) const {
    const Index row = i / columns_ % rows_ * size_.rows, column = i % columns_ * size_.columns;
    return detail::block_of(c, row, std::min(size_.rows, c.rows - row), column,
                            std::min(size_.columns, c.columns - column));
  }
  template <class Multiply>
  void product(Index i, const MutableMatrixView& c, const MatmulOptions& options,
               const Multiply& multiply) const {
    const Index row = i / columns_ % rows_ * size_.rows, column = i % columns_ * size_.columns;
    const Index k = i / (rows_ * columns_) * size_.depth, depth = std::min(size_.depth, a_.columns - k);
    multiply(detail::block_of(a_, row, c.rows, k, depth), detail::block_of(b_, k, depth, column, c.columns),
             c, options);
  }

  MatrixView a_, b_;
  MutableMatrixView c_;
  MatmulOptions options_;
  Blocks size_;
  Index rows_, columns_, pieces_;
};

// Tells a profile of a product when it is done.
class Report {
 public:
  Report(Index count, const MatrixView& a, const MatrixView& b, const MutableMatrixView& c)
      : profile_(Profile::active()), count_(count) {
    if (profile_ == nullptr) return;
    shape_ = {c.rows, c.columns, a.columns, a.transposed, b.transposed, a.type, c.type};
    start_ = Profile::Clock::now();
  }
  ~Report() {
    if (profile_ != nullptr) profile_->product(shape_, count_, start_);
  }
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

 private:
  Profile* profile_;
  Index count_;
  ProfiledProduct shape_;
  Profile::Clock::time_point start_;
};

// A gradient of a large weight: by the time that it is read, the cache would have lost it.
bool is_read_late(const MatrixView& a, const MutableMatrixView& c, const MatmulOptions& options) {
  constexpr Index kLarge = Index{1} << 19;
  return a.transposed && c.type == DType::f32 && !options.accumulate && c.rows * c.columns >= kLarge;
}

template <class Multiply>
void run_in_pieces(const Cut& cut, Index rows, const Multiply& multiply) {
  thread_local detail::Scratch scratch;
  float* sums = scratch.array<float>(static_cast<std::size_t>(cut.sums_size()));
  parallel_items(cut.items(), [&cut, &multiply, sums](Index i) { cut.run_piece(i, sums, multiply); });
  parallel_for(rows, 16, [&cut, sums](Index begin, Index end) { cut.add_pieces(begin, end, sums); });
}

void run_in_shares(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                   const MatmulOptions& options) {
  const bool sums_over_rows = a.transposed && !b.transposed;
  const Cut cut(a, b, c, options,
                detail::choose_shares(c.rows, c.columns, a.columns, sums_over_rows, thread_count()));
  const bool late = !cut.sums_are_cut() && is_read_late(a, c, options);
  // Blocks depend on the threads, so all of them go to the loops, whatever suits one of that size.
  const auto multiply = [late](const auto&... operands) { detail::loop_product(operands..., late); };
  if (cut.sums_are_cut()) return run_in_pieces(cut, c.rows, multiply);
  parallel_items(cut.items(), [&cut, &multiply](Index i) { cut.run(i, multiply); });
}

}  // namespace

void matmul_serial(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                   const MatmulOptions& options) {
  detail::check_product(a, b, c, options);
  if (c.rows > 0 && c.columns > 0) detail::serial_product(a, b, c, options);
}

void matmul(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
            const MatmulOptions& options) {
  detail::check_product(a, b, c, options);
  if (c.rows == 0 || c.columns == 0) return;
  const Report report(1, a, b, c);
  if (detail::goes_to_loops(a, b, c, options)) return run_in_shares(a, b, c, options);
  const Cut cut(a, b, c, options, detail::choose_blocks(c.rows, c.columns, a.columns, a.type));
  if (cut.sums_are_cut())
    run_in_pieces(cut, c.rows, detail::serial_product);
  else
    parallel_items(cut.items(), [&cut](Index i) { cut.run(i, detail::serial_product); });
}

void batched_matmul(Index count, const MatrixView& a, Index a_step, const MatrixView& b, Index b_step,
                    const MutableMatrixView& c, Index c_step, const MatmulOptions& options) {
  detail::check_product(a, b, c, options);
  check(count <= 1 || c_step != 0, "batched_matmul: c_step must not be 0 for ", count, " items");
  if (c.rows == 0 || c.columns == 0) return;
  const auto one = [&](Index i, auto&& product) {
    product(detail::moved(a, i * a_step), detail::moved(b, i * b_step), detail::moved(c, i * c_step),
            options);
  };
  constexpr Index kManyItems = 8;
  if (count >= kManyItems) {
    const Report report(count, a, b, c);
    return parallel_items(count, [&](Index i) { one(i, detail::serial_product); });
  }
  for (Index i = 0; i < count; ++i) one(i, matmul);
}

}  // namespace attnlab::kernels
