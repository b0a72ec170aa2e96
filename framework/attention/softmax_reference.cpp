#include "attention/softmax_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attnlab {

std::vector<double> softmax_reference(const HeadProblem& p, double scale) {
  std::vector<double> result(static_cast<std::size_t>(p.T * p.V), 0.0);
  for (Index t = 0; t < p.T; ++t) {
    const Interval seen = p.visible(t);
    std::vector<double> weights;
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (Index s = seen.begin; s < seen.end; ++s) {
      double dot = 0;
      for (Index k = 0; k < p.K; ++k)
        dot += p.query[static_cast<std::size_t>(t * p.K + k)] * p.key[static_cast<std::size_t>(s * p.K + k)];
      weights.push_back(scale * dot);
      largest = std::max(largest, weights.back());
    }
    for (double& weight : weights) sum += weight = std::exp(weight - largest);
    for (Index s = seen.begin; s < seen.end; ++s)
      for (Index v = 0; v < p.V; ++v)
        result[static_cast<std::size_t>(t * p.V + v)] += weights[static_cast<std::size_t>(s - seen.begin)] /
                                                         sum * p.value[static_cast<std::size_t>(s * p.V + v)];
  }
  return result;
}

}  // namespace attnlab
