#include "train/placed_numbers.h"

#include <fmt/format.h>

#include <cmath>

#include "core/parallel.h"

namespace attnlab {
namespace {

// Rows [first, first + count) of the outputs of `stored` to or from `mine` [count, in] or [count].
template <class T, bool kIntoStored>
void move_part(const Tensor& stored, bool transposed, Index first, const Tensor& mine) {
  const Index count = mine.shape()[0], in = mine.count() / std::max<Index>(count, 1);
  const Index outputs = transposed ? stored.columns() : 0;
  T* whole = stored.data<T>();
  T* part = mine.data<T>();
  parallel_for(count, 64, [transposed, first, in, outputs, whole, part](Index begin, Index end) {
    for (Index o = begin; o < end; ++o)
      for (Index j = 0; j < in; ++j) {
        T& there = whole[transposed ? j * outputs + first + o : (first + o) * in + j];
        T& here = part[o * in + j];
        kIntoStored ? there = here : here = there;
      }
  });
}

template <bool kIntoStored>
void move_parts(const Tensor& stored, bool transposed, const std::vector<Parameter*>& parameters) {
  Index first = 0;
  for (const Parameter* parameter : parameters) {
    const Tensor& mine = parameter->value();
    mine.type() == DType::f64 ? move_part<double, kIntoStored>(stored, transposed, first, mine)
                              : move_part<float, kIntoStored>(stored, transposed, first, mine);
    first += mine.shape()[0];
  }
}

}  // namespace

std::vector<Index> shape_list(const Shape& shape) {
  std::vector<Index> list;
  for (int axis = 0; axis < shape.rank(); ++axis) list.push_back(shape[axis]);
  return list;
}

std::string text_of(const std::vector<Index>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

Shape stored_shape(const std::vector<Parameter*>& to, bool transposed) {
  Index outputs = 0;
  for (const Parameter* parameter : to) outputs += parameter->shape()[0];
  const Shape& first = to.front()->shape();
  if (first.rank() == 1) return {outputs};
  return transposed ? Shape{first[1], outputs} : Shape{outputs, first[1]};
}

bool may_be_cut(const Parameter& parameter, std::size_t count, const TensorEntry& entry,
                const Shape& wanted) {
  return count == 1 && parameter.name().ends_with("_positions.weight") && entry.shape.size() == 2 &&
         entry.shape[1] == wanted[1] && entry.shape[0] > wanted[0];
}

void write_numbers(const Tensor& stored, bool transposed, const std::vector<Parameter*>& to) {
  move_parts<false>(stored, transposed, to);
}

Tensor gather_numbers(const std::vector<Parameter*>& from, bool transposed) {
  const Tensor stored(stored_shape(from, transposed), from.front()->value().type());
  move_parts<true>(stored, transposed, from);
  return stored;
}

std::string not_finite(const Tensor& numbers) {
  std::string what;
  dispatch(numbers.type(), [&numbers, &what](auto zero) {
    const auto values = numbers.values<decltype(zero)>();
    for (std::size_t i = 0; i < values.size() && what.empty(); ++i)
      if (!std::isfinite(static_cast<double>(values[i])))
        what = fmt::format("{} at number {}",
                           std::isnan(static_cast<double>(values[i])) ? "NaN" : "an infinity", i);
  });
  return what;
}

bool equal_numbers(WeightFiles& files, const std::string& a, const std::string& b) {
  if (files.entry(a).shape != files.entry(b).shape) return false;
  const Tensor first = files.read(a, DType::f64), second = files.read(b, DType::f64);
  const auto x = first.values<double>(), y = second.values<double>();
  return std::equal(x.begin(), x.end(), y.begin());
}

void rearrange(StartingWeights weights, std::uint64_t seed, const Parameter& parameter) {
  if (weights == StartingWeights::pretrained) return;
  const std::vector<double> given = parameter.value().to_doubles();
  std::vector<double> numbers(given.size());
  const auto count = static_cast<Index>(given.size());
  if (weights == StartingWeights::permuted) {
    const Random random(seed, stream_name(parameter.name() + ".permuted"));
    const auto order = random.permutation(count);
    for (std::size_t i = 0; i < given.size(); ++i) numbers[i] = given[static_cast<std::size_t>(order[i])];
  } else {
    double sum = 0, squares = 0;
    for (const double x : given) sum += x;
    const double mean = sum / static_cast<double>(std::max<Index>(count, 1));
    for (const double x : given) squares += (x - mean) * (x - mean);
    const double deviation = std::sqrt(squares / static_cast<double>(std::max<Index>(count, 1)));
    const Random random(seed, stream_name(parameter.name() + ".statistics"));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = mean + deviation * random.normal(i);
  }
  parameter.value().copy_from(Tensor::from(parameter.shape(), DType::f64, numbers));
}

}  // namespace attnlab
