// Attention that is linear in length (Katharopoulos et al. 2020): weights are products of features, so that
// sums over keys can be kept instead of the keys.
#pragma once

#include "core/mask.h"
#include "core/tape.h"

namespace attnlab {

// The feature map elu(x) + 1 (equation 7): x + 1 above zero, e^x below. x [N, D], may be a column view.
Var elu_plus_one(const Var& x);

// sum_s (q_t . k_s) v_s / sum_s (q_t . k_s) over the keys that each query sees (equations 4 and 5), in every
// head. query [N, H*K] and key [M, H*K] are features already, value [M, H*V] -> [N, H*V]; column views are
// fine. A query that sees nothing, or whose denominator is zero, gives a zero row and no gradient. Time and
// memory are linear in length where all intervals begin at the first key and do not shrink (equations 10-15);
// other masks, such as bands, are weighed pair by pair. ShapeError if shapes, types or the mask do not fit.
Var linear_attention(const Var& query, const Var& key, const Var& value, const Mask& mask, Index heads);

// What incremental use carries per sentence (equations 16-20): the sums over all earlier keys. f32, or f64.
struct LinearAttentionState {
  Tensor sums;         // [B, H, K, V]
  Tensor normalisers;  // [B, H, K]
  static LinearAttentionState zeros(Index count, Index heads, Index width, Index value_width, DType type);
};

// Causal linear attention of new rows behind those that `state` has seen: each row's key and value are added,
// then its query is answered. query, key [N, H*K], value [N, H*V], sentence b of `rows` with state b -> [N,
// H*V]. No gradient. ShapeError if anything does not fit.
Tensor linear_attention_step(const Tensor& query, const Tensor& key, const Tensor& value,
                             const Sequences& rows, Index heads, const LinearAttentionState& state);

}  // namespace attnlab
