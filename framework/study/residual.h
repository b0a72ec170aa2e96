// How far token rows are from being all alike: norms of what is left of a matrix when one row is taken from
// all rows (Dong et al. 2021, section 2), and cosines between rows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/dtype.h"

namespace attnlab {

// Rows of one sentence, row-major, in f64.
struct RowMatrix {
  Index rows = 0, columns = 0;
  std::vector<double> values;
  double at(Index i, Index j) const { return values[static_cast<std::size_t>(i * columns + j)]; }
};

enum class MatrixNorm { composite, frobenius };
std::string to_string(MatrixNorm norm);

// Composite: sqrt(largest column sum times largest row sum) of absolute values.
double norm_of(const RowMatrix& x, MatrixNorm norm);

// x with `centre` [columns] taken from every row.
RowMatrix residual(const RowMatrix& x, const std::vector<double>& centre);

std::vector<double> mean_row(const RowMatrix& x);
// The row whose residual has the smallest composite norm, found numerically: the best of the mean, the
// medians and some hundred steps from them towards the column and the row that decide. Never worse than the
// mean.
std::vector<double> composite_centre(const RowMatrix& x);

// The mean cosine over all pairs of rows that are not zero, which have no direction. Nothing where there is
// no such pair.
std::optional<double> mean_cosine(const RowMatrix& x);

}  // namespace attnlab
