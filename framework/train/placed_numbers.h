// The numbers of one tensor on their way from a file into parameters.
#pragma once

#include <string>
#include <vector>

#include "core/parameter.h"
#include "models/spec.h"
#include "train/weight_files.h"

namespace attnlab {

std::vector<Index> shape_list(const Shape& shape);
std::string text_of(const std::vector<Index>& shape);  // "[768, 2304]"

// The shape of the tensor that holds these parameters side by side along their outputs.
Shape stored_shape(const std::vector<Parameter*>& to, bool transposed);
// A table of positions may be longer than ours: the first rows are the same positions.
bool may_be_cut(const Parameter& parameter, std::size_t count, const TensorEntry& entry, const Shape& wanted);
// Writes `stored` into the masters; a cut table's further rows are left out.
void write_numbers(const Tensor& stored, bool transposed, const std::vector<Parameter*>& to);
// The reverse: one tensor from parameters.
Tensor gather_numbers(const std::vector<Parameter*>& from, bool transposed);
// "NaN at number 17" or "infinity at …"; empty if all are finite.
std::string not_finite(const Tensor& numbers);
// Whether two tensors of the files have the same shape and numbers.
bool equal_numbers(WeightFiles& files, const std::string& a, const std::string& b);
// What model.weights asks for, done to the pretrained numbers of one parameter.
void rearrange(StartingWeights weights, std::uint64_t seed, const Parameter& parameter);

}  // namespace attnlab
