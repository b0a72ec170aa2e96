#include "train/log_probability.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "kernels/row_loops.h"
#include "kernels/rows.h"

namespace attnlab {
namespace {

constexpr Index kPiece = 1024;

// log sum exp of a row: pieces in f32, their sum in f64.
template <class T>
double log_normaliser(const T* x, Index V) {
  double largest = -std::numeric_limits<double>::infinity(), total = 0;
  for (Index begin = 0; begin < V; begin += kPiece) {
    const kernels::RowStatistics piece =
        kernels::row_loops<T>().statistics(x + begin, std::min(kPiece, V - begin));
    const double maximum = static_cast<double>(piece.maximum);
    if (maximum == -std::numeric_limits<double>::infinity()) continue;
    if (maximum > largest) {
      total *= std::exp(largest - maximum);
      largest = maximum;
    }
    total += static_cast<double>(piece.sum) * std::exp(maximum - largest);
  }
  return largest + std::log(total);
}

double log_normaliser(const double* x, Index V) {
  const double largest = *std::max_element(x, x + V);
  double total = 0;
  for (Index j = 0; j < V; ++j) total += std::exp(x[j] - largest);
  return largest + std::log(total);
}

Index first_above(const double* x, Index first, Index V, double threshold) {
  while (first < V && !(x[first] > threshold)) ++first;
  return first;
}
template <class T>
Index first_above(const T* x, Index first, Index V, float threshold) {
  return kernels::row_loops<T>().first_above(x, first, V, threshold);
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
    const bool full = static_cast<Index>(heap.size()) == k;
    if (full) j = first_above(x, j, V, heap.front().value);
    if (j == V) break;
    const A value = static_cast<A>(x[j]);
    if (j == never || std::isinf(value) || std::isnan(value)) continue;
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

// Calls visit(row, its numbers, its log normaliser) for all rows, in parallel.
template <class Visit>
void visit_rows(const Tensor& logits, const Visit& visit) {
  const Index V = logits.columns();
  std::atomic<bool> diverged = false;
  dispatch(logits.type(), [&](auto zero) {
    using T = decltype(zero);
    parallel_for(logits.rows(), kernels::row_grain(V), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const T* x = logits.data<T>() + i * logits.row_stride();
        const double normaliser = log_normaliser(x, V);
        if (std::isfinite(normaliser))
          visit(static_cast<std::size_t>(i), x, normaliser);
        else
          diverged = true;
      }
    });
  });
  if (diverged) throw DivergedError("decoding: the model's logits are not finite");
}

}  // namespace

std::vector<double> log_normalisers(const Tensor& logits) {
  std::vector<double> result(static_cast<std::size_t>(logits.rows()));
  visit_rows(logits, [&result](std::size_t i, const auto*, double normaliser) { result[i] = normaliser; });
  return result;
}

std::vector<std::vector<TokenScore>> best_tokens(const Tensor& logits, Index k, Token never) {
  std::vector<std::vector<TokenScore>> result(static_cast<std::size_t>(logits.rows()));
  visit_rows(logits, [&](std::size_t i, const auto* x, double normaliser) {
    result[i] = best_of_row(x, logits.columns(), k, never, normaliser);
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
