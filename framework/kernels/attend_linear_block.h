// What forward and backward of linear attention share. Internal to attend_linear.
#pragma once

#include "kernels/attend_block.h"
#include "kernels/attend_linear.h"

namespace attnlab::kernels::detail {

// Per block of queries of a sentence, how many keys go through the state: all of its queries see them, and no
// later block has fewer. 0 where intervals do not start at the first key, or shrink.
void plan_prefixes(const Mask& mask, Index sentence, std::vector<Index>& prefixes);

// Whole sentences, short ones in groups of heads. The list lives until the thread's next call.
const std::vector<AttendItem>& sentence_items(const AttendInputs& inputs);

inline AttendInputs as_attend(const LinearInputs& in) {
  return {in.query, in.key, in.value, in.mask, in.heads, 1, 0, {}};
}

// sums [rows, columns] += a^T b for rows of two matrices.
template <class T>
void add_outer(const AttendLoops<T>& loops, HeadRows<T> a, Index rows, HeadRows<T> b, Index columns,
               Index count, T* sums) {
  loops.product({a.data, 1, a.stride, b.data, b.stride, sums, columns, rows, columns, count, true});
}

}  // namespace attnlab::kernels::detail
