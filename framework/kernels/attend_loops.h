// The inner loops of attention on blocks in scratch memory, compiled once for each instruction set. Blocks of
// weights are stored key by key: [keys][queries], so that the lanes of a vector are queries and softmax needs
// no sums across lanes. Internal to attend.
#pragma once

#include "core/dtype.h"

namespace attnlab::kernels::detail {

// c [rows, columns] = (accumulate ? c : 0) + a b, where a(i, k) = a[i * a_row + k * a_step] and b, c have
// contiguous rows. `columns` is a multiple of the lanes. Each element is one chain of multiply-adds in the
// order of k.
template <class T>
struct BlockProduct {
  const T* a;
  Index a_row, a_step;
  const T* b;
  Index b_row;
  T* c;
  Index c_row;
  Index rows, columns, depth;
  bool accumulate;
};

// Dropout of a block of weights: lane bits of key s are words[(s / 8 - first_group) * 4 + (s % 8) /
// 2][query].
struct BlockDropout {
  const std::uint32_t* words = nullptr;  // null: off
  Index first_group = 0;
  std::uint32_t threshold = 0;  // dropped below
  double keep_scale = 1;
};

// Weights between keys [first_key, first_key + keys) and `queries` queries (a multiple of the lanes).
template <class T>
struct WeightBlock {
  T* scores;     // [keys][queries]
  T* d_weights;  // backward only: gradient of the dropped weights, then of the scores
  Index keys, queries, first_key;
  const std::int32_t* begin;  // per query, the keys that it sees
  const std::int32_t* end;
  bool masked;  // some pair is not visible
  BlockDropout dropout;
};

// A query and a tile of keys, all of which it sees.
template <class T>
struct QueryTile {
  const T* query;
  const T* key;
  Index key_row;
  const T* value;
  Index value_row;
  Index keys, width, value_width;  // widths are multiples of the lanes
  T* scores;                       // room for `keys` numbers, rounded up to whole vectors
  T* sums;            // [value_width]: weighted sum of values so far, weights as in softmax below
  bool first;         // there is none yet
  bool fetch_values;  // they are not in the cache yet
  const T* next_key;  // keys that will be read after these, or null
};

template <class T>
struct AttendLoops {
  Index lanes;
  T score_factor;  // scores are kept times this: log2(e) where powers of two are used
  void (*product)(const BlockProduct<T>&);
  void (*product_skipping_zeros)(const BlockProduct<T>&);  // the same bits, but 0 * NaN counts as 0
  // out [columns][out_row] = factor * in^T for in [rows, columns]; what lies beyond `rows` becomes zero.
  // `columns` and `out_row` are multiples of the lanes.
  void (*transpose)(const T* in, Index stride, Index rows, Index columns, T factor, T* out, Index out_row);
  // No NaN or infinity in [rows, columns]; columns a multiple of the lanes.
  bool (*finite)(const T* in, Index stride, Index rows, Index columns);
  // Scores to exp(score - maximum), with the running maximum and sum per query and the factor `rescale` by
  // which what was summed before must shrink (Milakov & Gimelshein 2018). Dropout zeroes, and does not scale.
  void (*softmax)(const WeightBlock<T>&, T* maximum, T* sum, T* rescale);
  // The same for one query with all keys of a tile, and the weighted sum of values.
  void (*attend_query)(const QueryTile<T>&, T* maximum, T* sum);
  // Scores to dropped weights (scaled), d_weights to gradients of the scores. `inverse` is one over the sums,
  // and `center` the sum of weight times gradient over all keys; null if the block holds all of them.
  void (*softmax_backward)(const WeightBlock<T>&, const T* maximum, const T* inverse, const T* center);
  // x to 1 / x, but 0 to 0.
  void (*invert)(Index count, T* x);
  // out [rows, padded] = in [rows, width], with zeros up to `padded`, a multiple of the lanes.
  void (*load)(const void* in, DType type, Index stride, Index rows, Index width, Index padded, T* out);
  // out [rows, width] = in * factor * factors[row] (or of 1 where null), or added to it.
  void (*store)(const T* in, Index in_row, Index rows, Index width, T factor, const T* factors, void* out,
                DType type, Index stride, bool add);
  // sums[row] = a[row] . b[row] over `columns`, a multiple of the lanes.
  void (*row_products)(const T* a, Index a_row, const T* b, Index b_row, Index rows, Index columns, T* sums);
  // Rows times a factor each; columns a multiple of the lanes.
  void (*scale_rows)(T* x, Index rows, Index columns, const T* factors);
  // Linear attention: zeroes weights that are not visible, and adds the others up per query.
  void (*mask_and_sum)(const WeightBlock<T>&, T* sum);
  // Adds `shift` to the gradients of a query's weights, and zeroes weights and gradients that are not
  // visible.
  void (*shift_and_mask)(const WeightBlock<T>&, const T* shift);
  // words [4 * groups][queries]: Philox blocks number base[query] + first_group + g of stream (key, step).
  void (*draw)(std::uint64_t key, std::uint64_t step, const std::uint64_t* base, Index queries,
               Index first_group, Index groups, std::uint32_t* words);
};

template <class T>
const AttendLoops<T>& attend_loops();  // for this CPU; T is float or double

}  // namespace attnlab::kernels::detail
