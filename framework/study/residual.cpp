#include "study/residual.h"

#include <algorithm>
#include <cmath>

namespace attnlab {
namespace {

struct Sums {
  std::vector<double> columns, rows;  // of absolute values
  Index widest_column = 0, widest_row = 0;
  double norm() const {
    return std::sqrt(columns[static_cast<std::size_t>(widest_column)] *
                     rows[static_cast<std::size_t>(widest_row)]);
  }
};

Index place_of_largest(const std::vector<double>& values) {
  return std::max_element(values.begin(), values.end()) - values.begin();
}

Sums sums_around(const RowMatrix& x, const std::vector<double>& centre) {
  Sums sums{std::vector<double>(static_cast<std::size_t>(x.columns)),
            std::vector<double>(static_cast<std::size_t>(x.rows))};
  for (Index i = 0; i < x.rows; ++i)
    for (Index j = 0; j < x.columns; ++j) {
      const auto column = static_cast<std::size_t>(j);
      const double size = std::fabs(x.at(i, j) - centre[column]);
      sums.columns[column] += size;
      sums.rows[static_cast<std::size_t>(i)] += size;
    }
  sums.widest_column = place_of_largest(sums.columns);
  sums.widest_row = place_of_largest(sums.rows);
  return sums;
}

double median_of_column(const RowMatrix& x, Index j) {
  std::vector<double> column;
  for (Index i = 0; i < x.rows; ++i) column.push_back(x.at(i, j));
  const auto middle = column.begin() + x.rows / 2;
  std::nth_element(column.begin(), middle, column.end());
  if (x.rows % 2 == 1) return *middle;
  return (*middle + *std::max_element(column.begin(), middle)) / 2;
}

std::vector<double> medians(const RowMatrix& x) {
  std::vector<double> row;
  for (Index j = 0; j < x.columns; ++j) row.push_back(median_of_column(x, j));
  return row;
}

// Steps towards the row that lies farthest away, and of the widest column towards its median; the steps
// shrink.
std::vector<double> improved(const RowMatrix& x, std::vector<double> centre) {
  constexpr int kSteps = 120;
  const std::vector<double> middle = medians(x);
  std::vector<double> best = centre;
  double least = sums_around(x, centre).norm();
  for (int step = 1; step <= kSteps; ++step) {
    const Sums sums = sums_around(x, centre);
    const double share = 1.0 / (step + 1);
    for (Index j = 0; j < x.columns; ++j) {
      double& value = centre[static_cast<std::size_t>(j)];
      value += share * (x.at(sums.widest_row, j) - value);
    }
    const auto column = static_cast<std::size_t>(sums.widest_column);
    centre[column] += 0.5 * (middle[column] - centre[column]);
    const double norm = sums_around(x, centre).norm();
    if (norm < least) {
      least = norm;
      best = centre;
    }
  }
  return best;
}

}  // namespace

std::string to_string(MatrixNorm norm) { return norm == MatrixNorm::composite ? "composite" : "frobenius"; }

double norm_of(const RowMatrix& x, MatrixNorm norm) {
  if (x.values.empty()) return 0;
  if (norm == MatrixNorm::composite)
    return sums_around(x, std::vector<double>(static_cast<std::size_t>(x.columns))).norm();
  double sum = 0;
  for (const double value : x.values) sum += value * value;
  return std::sqrt(sum);
}

RowMatrix residual(const RowMatrix& x, const std::vector<double>& centre) {
  RowMatrix y = x;
  for (Index i = 0; i < x.rows; ++i)
    for (Index j = 0; j < x.columns; ++j)
      y.values[static_cast<std::size_t>(i * x.columns + j)] -= centre[static_cast<std::size_t>(j)];
  return y;
}

std::vector<double> mean_row(const RowMatrix& x) {
  std::vector<double> mean(static_cast<std::size_t>(x.columns));
  for (Index i = 0; i < x.rows; ++i)
    for (Index j = 0; j < x.columns; ++j) mean[static_cast<std::size_t>(j)] += x.at(i, j);
  for (double& value : mean) value /= static_cast<double>(x.rows);
  return mean;
}

std::vector<double> composite_centre(const RowMatrix& x) {
  std::vector<double> best = mean_row(x);
  if (x.values.empty()) return best;
  double least = sums_around(x, best).norm();
  for (const auto& start : {best, medians(x)}) {
    const std::vector<double> found = improved(x, start);
    const double norm = sums_around(x, found).norm();
    if (norm < least) {
      least = norm;
      best = found;
    }
  }
  return best;
}

// From the norm of the sum of unit rows.
std::optional<double> mean_cosine(const RowMatrix& x) {
  std::vector<double> sum(static_cast<std::size_t>(x.columns));
  double count = 0;
  for (Index i = 0; i < x.rows; ++i) {
    double square = 0;
    for (Index j = 0; j < x.columns; ++j) square += x.at(i, j) * x.at(i, j);
    if (square == 0) continue;
    ++count;
    for (Index j = 0; j < x.columns; ++j) sum[static_cast<std::size_t>(j)] += x.at(i, j) / std::sqrt(square);
  }
  if (count < 2) return {};
  double square = 0;
  for (const double value : sum) square += value * value;
  return (square - count) / (count * (count - 1));
}

}  // namespace attnlab
