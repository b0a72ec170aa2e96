// Statistics of few numbers: what several seeds say about a mean, a difference, a slope. Tested against
// SciPy.
#pragma once

#include <span>
#include <vector>

#include "core/dtype.h"

namespace attnlab {

// NaN without values.
double mean(std::span<const double> values);
// Of a sample, with n - 1 in the denominator; NaN for fewer than two values.
double standard_deviation(std::span<const double> values);
// Of the mean: sd / sqrt(n).
double standard_error(std::span<const double> values);

// Whether they differ by more than rounding; false for fewer than two. A t-test of values that do not vary
// tests nothing.
bool vary(std::span<const double> values);

// a[i] - b[i]. ShapeError unless both have the same length, as below.
std::vector<double> paired_differences(std::span<const double> a, std::span<const double> b);

// Student's t with `freedom` degrees of freedom: P(T <= t), and its inverse for p in (0, 1).
double student_cdf(double t, double freedom);
double student_quantile(double p, double freedom);

// Chance of a mean at least as far above `limit` as this one if the true mean were `limit` (one-sided
// one-sample t-test). NaN for fewer than two values; 0, .5 or 1 where they do not vary.
double t_test_above(std::span<const double> values, double limit);

struct Interval95 {
  double low = 0, high = 0;
};
// Of the mean, by Student's t; NaN for fewer than two values.
Interval95 confidence_interval(std::span<const double> values, double confidence = 0.95);

// Chance of at least `successes` in n independent trials that succeed with probability q.
double binomial_tail(Index successes, Index n, double q);

// Exact one-sided sign test: chance of at least as many positive values among those that are not zero, if
// either sign were as likely. 1 where there is none.
double sign_test(std::span<const double> differences);

// Two one-sided t-tests: chance of a mean at least as well inside (-margin, margin) if the true one lay on
// its border. Equivalence is shown where this is small.
double equivalence_test(std::span<const double> differences, double margin);

// p-values as Holm corrects them for being several: in the given order, monotone, at most 1.
std::vector<double> holm(std::span<const double> p_values);

// Least-squares slope of ln y against ln x. NaN where any is not positive, or x does not vary.
double log_log_slope(std::span<const double> x, std::span<const double> y);

// Smallest true mean difference that a two-sided t-test at 5 % finds in 80 % of studies with n pairs whose
// differences have this sd; infinite for n < 2. (Uses the usual sum of two quantiles.)
double detectable_difference(double sd_of_differences, Index n);

}  // namespace attnlab
