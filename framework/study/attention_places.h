// Where a model has attention, and the weights there: for every kind whose output is a weighted sum of its
// values.
#pragma once

#include <string>
#include <vector>

#include "models/transformer.h"
#include "study/activations.h"

namespace attnlab {

enum class AttentionType { encoder, decoder, cross };
std::string to_string(AttentionType type);  // "encoder", "decoder", "cross"

struct AttentionPlace {
  const MultiHeadAttention* attention = nullptr;
  AttentionType type = AttentionType::encoder;
  Index layer = 0;
  Index heads() const { return attention->shape().H; }
  const std::string& path() const { return attention->path(); }
};

// All attentions that have heads: encoder, decoder, cross-attention, by layer. Those of kind `none` have
// none.
std::vector<AttentionPlace> attention_places(const Transformer& model);
// The same of a spec, without building it: whether there is any attention with heads.
bool has_heads(const ModelSpec& spec);

// What the queries of a place can see, by the kind of attention as well (a window is a band).
Mask mask_at(const AttentionPlace& place, const ModelSpec& spec, const ModelInput& input);

// Asks a Recorder for what attention_map() needs.
bool wants_attention(const std::string& module, std::string_view what);

// The weights of every key for every query, [B, H, longest T, longest S], of the type of the activations;
// zero where nothing is seen. Found by putting unit vectors in the place of the values, so that they are
// those of any kind that is linear in its values (of a kind that mixes keys first, the weights that it comes
// down to). Throws ConfigError for a kind that is not: its weights times its values are not what it gives.
Tensor attention_map(const AttentionPlace& place, const Recorder& seen, const Mask& mask);

}  // namespace attnlab
