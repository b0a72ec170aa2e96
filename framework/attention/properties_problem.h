// Rows for an attention to work on, ways to lay them out again, and what came out: shared by the properties.
#pragma once

#include <vector>

#include "attention/properties_subject.h"

namespace attnlab {

// Whether a problem is put to the kind's core (projected rows) or to the whole attention (rows of width D).
enum class Level : std::uint8_t { core, whole };

// Rows of queries, keys and values; of the whole attention: queries and memory. What it does without holds
// nothing; nor do the keys of self-attention where they are the queries.
struct Problem {
  Level level = Level::whole;
  Mask mask;
  Tensor query, key, value;
  Tensor d_output;
};

// Random rows for a situation. At the core, keys are rows of their own even in self-attention, unless the
// kind uses one map for both.
Problem draw_problem(const Rig& rig, Level level, const Situation& situation);
Tensor random_rows(const Shape& shape, const std::string& name, DType type);

// The levels there are: the control `none` has no core.
std::vector<Level> levels(const Rig& rig);

// What stands in rows that belong to no sentence.
enum class Filler : std::uint8_t { zero, random, nan };

// The sentences in another order (or some of them), each with `spare` rows behind it that belong to none.
Problem laid_out(const Problem& problem, const std::vector<Index>& order, Index spare = 0,
                 Filler filler = Filler::zero);
std::vector<Index> all_sentences(const Problem& problem);

struct Run {
  Tensor output, d_query, d_key, d_value;  // gradients hold nothing where there is no input
  std::vector<Tensor> d_parameters;
};

// Forward and backward from the problem's d_output.
Run run(Rig& rig, const Problem& problem, const TapeOptions& options = {});
// Forward only, dropout off.
Tensor evaluate(Rig& rig, const Problem& problem);

// The largest |a - b| over the largest |b|; infinite where a is NaN or the shapes differ.
double distance(const Tensor& a, const Tensor& b);
// 0 if all bits agree, else the largest |a - b|, at least the smallest number.
double difference_in_bits(const Tensor& a, const Tensor& b);
// The one or the other: bits where the bound is 0.
double error_of(const Tensor& a, const Tensor& b, double bound);
bool all_zero(const Tensor& x);

// Sentence b's rows.
Tensor rows_of(const Tensor& rows, const Sequences& sequences, Index b);

// How far the same numbers may lie apart when the order of sums is free: 0 (bits) in f64.
double order_bound(DType type);

constexpr DType kTypes[] = {DType::f64, DType::f32, DType::bf16};

}  // namespace attnlab
