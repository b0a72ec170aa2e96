#include "train/log_probability.h"

#include <algorithm>
#include <cmath>

#include "kernels/rows.h"
#include "kernels/vector_math.h"
#include "kernels/vectorise.h"

namespace attnlab {
namespace {

constexpr Index kLanes = 16, kPiece = 1024;

template <class T>
[[gnu::always_inline]] inline Accumulator<T> largest_of(const T* x, Index V) {
  using A = Accumulator<T>;
  A lanes[kLanes];
  for (A& lane : lanes) lane = static_cast<A>(x[0]);
  Index j = 0;
  for (; j + kLanes <= V; j += kLanes)
    for (Index lane = 0; lane < kLanes; ++lane) {
      const A value = static_cast<A>(x[j + lane]);
      lanes[lane] = value > lanes[lane] ? value : lanes[lane];
    }
  for (; j < V; ++j) {
    const A value = static_cast<A>(x[j]);
    lanes[0] = value > lanes[0] ? value : lanes[0];
  }
  A largest = lanes[0];
  for (const A lane : lanes) largest = lane > largest ? lane : largest;
  return largest;
}

// Pieces in the accumulator's type, their sum in f64.
template <class T>
[[gnu::always_inline]] inline double exponential_sum(const T* x, Index V, Accumulator<T> largest) {
  using A = Accumulator<T>;
  double total = 0;
  for (Index begin = 0; begin < V; begin += kPiece) {
    const Index end = begin + kPiece < V ? begin + kPiece : V;
    A lanes[kLanes] = {};
    Index j = begin;
    for (; j + kLanes <= end; j += kLanes)
      for (Index lane = 0; lane < kLanes; ++lane)
        lanes[lane] += kernels::vector_exp(static_cast<A>(x[j + lane]) - largest);
    for (; j < end; ++j) lanes[0] += kernels::vector_exp(static_cast<A>(x[j]) - largest);
    for (const A lane : lanes) total += static_cast<double>(lane);
  }
  return total;
}

// What is better comes first: the larger logit, then the smaller id.
template <class T>
struct Entry {
  T value;
  Token token;
  bool operator<(const Entry& other) const {
    return value > other.value || (value == other.value && token < other.token);
  }
};

template <class T>
std::vector<TokenScore> best_of_row(const T* x, Index V, Index k, Token never, double normaliser) {
  using A = Accumulator<T>;
  std::vector<Entry<A>> heap;  // the worst one in front
  for (Index j = 0; j < V; ++j) {
    const A value = static_cast<A>(x[j]);
    const bool full = static_cast<Index>(heap.size()) == k;
    if ((full && !(value > heap.front().value)) || j == never || std::isinf(value)) continue;
    if (full) {
      std::pop_heap(heap.begin(), heap.end());
      heap.pop_back();
    }
    heap.push_back({value, static_cast<Token>(j)});
    std::push_heap(heap.begin(), heap.end());
  }
  std::sort_heap(heap.begin(), heap.end());
  std::vector<TokenScore> best;
  for (const Entry<A>& entry : heap)
    best.push_back({entry.token, static_cast<double>(entry.value) - normaliser});
  return best;
}

}  // namespace

std::vector<double> log_normalisers(const Tensor& logits) {
  std::vector<double> result(static_cast<std::size_t>(logits.rows()));
  const Index V = logits.columns(), stride = logits.row_stride();
  dispatch(logits.type(), [&logits, &result, V, stride](auto zero) {
    using T = decltype(zero);
    const T* x = logits.data<T>();
    double* out = result.data();
    kernels::parallel_vectorised(
        logits.rows(), kernels::row_grain(V),
        [ x, out, V, stride ](Index begin, Index end) __attribute__((always_inline)) {
          for (Index i = begin; i < end; ++i) {
            const auto largest = largest_of(x + i * stride, V);
            out[i] = static_cast<double>(largest) + std::log(exponential_sum(x + i * stride, V, largest));
          }
        });
  });
  for (const double value : result)
    if (!std::isfinite(value)) throw DivergedError("decoding: the model's logits are not finite");
  return result;
}

std::vector<std::vector<TokenScore>> best_tokens(const Tensor& logits, Index k, Token never) {
  const auto normalisers = log_normalisers(logits);
  std::vector<std::vector<TokenScore>> result(normalisers.size());
  const Index V = logits.columns();
  dispatch(logits.type(), [&](auto zero) {
    using T = decltype(zero);
    parallel_for(logits.rows(), kernels::row_grain(V), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const auto n = static_cast<std::size_t>(i);
        result[n] = best_of_row(logits.data<T>() + i * logits.row_stride(), V, k, never, normalisers[n]);
      }
    });
  });
  return result;
}

std::vector<double> log_probabilities(const Tensor& logits, const std::vector<Token>& tokens) {
  check(static_cast<Index>(tokens.size()) == logits.rows(), "log-probabilities of ", tokens.size(),
        " tokens in ", logits.rows(), " rows");
  std::vector<double> result = log_normalisers(logits);
  dispatch(logits.type(), [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      check(tokens[i] >= 0 && tokens[i] < logits.columns(), "token ", tokens[i], " in a vocabulary of ",
            logits.columns());
      const Index place = static_cast<Index>(i) * logits.row_stride() + tokens[i];
      result[i] = static_cast<double>(static_cast<Accumulator<T>>(logits.data<T>()[place])) - result[i];
    }
  });
  return result;
}

}  // namespace attnlab
