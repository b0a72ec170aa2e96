#include "train/clip.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.h"
#include "kernels/vectorise.h"

namespace attnlab {
namespace {

constexpr Index kPieceElements = 1 << 14;
constexpr Index kLanes = 32;

// Thirty-two running sums, then their tree: an order that vectorises, hides how long an addition takes, and
// never changes.
template <class T>
double squares(const T* numbers, Index count) {
  double result = 0;
  kernels::vectorised(
      0, count, [ numbers, &result ](Index begin, Index end) __attribute__((always_inline)) {
        double sums[kLanes] = {};
        Index i = begin;
        for (; i + kLanes <= end; i += kLanes)
          for (Index lane = 0; lane < kLanes; ++lane) {
            const double x = static_cast<double>(numbers[i + lane]);
            sums[lane] += x * x;
          }
        for (Index lane = 0; i < end; ++i, ++lane)
          sums[lane] += static_cast<double>(numbers[i]) * static_cast<double>(numbers[i]);
        for (Index half = kLanes / 2; half > 0; half /= 2)
          for (Index lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
        result = sums[0];
      });
  return result;
}

}  // namespace

double global_norm(const Tensor& numbers) {
  const Index count = numbers.count(), pieces = (count + kPieceElements - 1) / kPieceElements;
  std::vector<double> sums(static_cast<std::size_t>(pieces));
  dispatch(numbers.type(), [&numbers, &sums, count, pieces](auto zero) {
    using T = decltype(zero);
    if (count == 0) return;
    const T* first = numbers.values<T>().data();
    parallel_items(pieces, [&sums, first, count](Index piece) {
      const Index begin = piece * kPieceElements;
      sums[static_cast<std::size_t>(piece)] = squares(first + begin, std::min(kPieceElements, count - begin));
    });
  });
  double sum = 0;
  for (const double part : sums) sum += part;
  return std::sqrt(sum);
}

double clip_scale(double norm, double limit) { return limit > 0 && norm > limit ? limit / norm : 1; }

}  // namespace attnlab
