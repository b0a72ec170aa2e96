#include "study/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"

namespace attnlab {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void check_pairs(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) throw ShapeError(join_text("pairs of ", a.size(), " and ", b.size(), " values"));
}

// Continued fraction of the incomplete beta function, by Lentz's method.
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), result = d;
  for (int m = 1; m <= 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    result *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    result *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return result;
}

// Regularised incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

double mean(std::span<const double> values) {
  if (values.empty()) return kNan;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return kNan;
  const double centre = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

bool vary(std::span<const double> values) {
  constexpr double kRounding = 1e-12;
  return standard_deviation(values) > kRounding * std::abs(mean(values));
}

double standard_error(std::span<const double> values) {
  return standard_deviation(values) / std::sqrt(static_cast<double>(values.size()));
}

std::vector<double> paired_differences(std::span<const double> a, std::span<const double> b) {
  check_pairs(a, b);
  std::vector<double> result(a.size());
  std::transform(a.begin(), a.end(), b.begin(), result.begin(), std::minus<>());
  return result;
}

double student_cdf(double t, double freedom) {
  const double tail = incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
  return t > 0 ? 1 - tail : tail;
}

double student_quantile(double p, double freedom) {
  if (p < 0.5) return -student_quantile(1 - p, freedom);
  double low = 0, high = 1;
  while (student_cdf(high, freedom) < p && high < 1e12) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-14 * high; ++i) {
    const double middle = (low + high) / 2;
    (student_cdf(middle, freedom) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

double t_test_above(std::span<const double> values, double limit) {
  if (values.size() < 2) return kNan;
  const double distance = mean(values) - limit, error = standard_error(values);
  if (error == 0) return distance > 0 ? 0 : distance < 0 ? 1 : 0.5;
  return student_cdf(-distance / error, static_cast<double>(values.size() - 1));
}

Interval95 confidence_interval(std::span<const double> values, double confidence) {
  if (values.size() < 2) return {kNan, kNan};
  const double reach =
      student_quantile(0.5 + confidence / 2, static_cast<double>(values.size() - 1)) * standard_error(values);
  return {mean(values) - reach, mean(values) + reach};
}

double binomial_tail(Index successes, Index n, double q) {
  double sum = 0;
  for (Index k = std::max<Index>(successes, 0); k <= n; ++k) {
    double term = 1;  // choose(n, k) q^k (1 - q)^(n - k), small factors and large ones in turn
    for (Index i = 1; i <= k; ++i) term *= q * static_cast<double>(n - k + i) / static_cast<double>(i);
    sum += term * std::pow(1 - q, static_cast<double>(n - k));
  }
  return std::min(sum, 1.0);
}

double sign_test(std::span<const double> differences) {
  const auto positive = std::count_if(differences.begin(), differences.end(), [](double d) { return d > 0; });
  const auto negative = std::count_if(differences.begin(), differences.end(), [](double d) { return d < 0; });
  return binomial_tail(positive, positive + negative, 0.5);
}

double equivalence_test(std::span<const double> differences, double margin) {
  std::vector<double> negated(differences.begin(), differences.end());
  for (double& value : negated) value = -value;
  return std::max(t_test_above(differences, -margin), t_test_above(negated, -margin));
}

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> corrected(p_values.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const double scaled = p_values[order[rank]] * static_cast<double>(order.size() - rank);
    largest = std::max(largest, std::min(scaled, 1.0));
    corrected[order[rank]] = largest;
  }
  return corrected;
}

double log_log_slope(std::span<const double> x, std::span<const double> y) {
  check_pairs(x, y);
  std::vector<double> log_x, log_y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(x[i] > 0 && y[i] > 0)) return kNan;
    log_x.push_back(std::log(x[i]));
    log_y.push_back(std::log(y[i]));
  }
  const double centre_x = mean(log_x), centre_y = mean(log_y);
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    products += (log_x[i] - centre_x) * (log_y[i] - centre_y);
    squares += (log_x[i] - centre_x) * (log_x[i] - centre_x);
  }
  return squares > 0 ? products / squares : kNan;
}

double detectable_difference(double sd_of_differences, Index n) {
  if (n < 2) return std::numeric_limits<double>::infinity();
  const auto freedom = static_cast<double>(n - 1);
  return (student_quantile(0.975, freedom) + student_quantile(0.8, freedom)) * sd_of_differences /
         std::sqrt(static_cast<double>(n));
}

}  // namespace attnlab
