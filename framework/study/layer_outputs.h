// The residual stream after every layer, sentence by sentence: what several probes look at.
#pragma once

#include <functional>

#include "study/activations.h"
#include "study/probe_subject.h"
#include "study/residual.h"

namespace attnlab {

// Which stack and how deep: layer 0 is what the first layer reads, layer l what layer l gives (before a final
// norm).
struct StreamPlace {
  std::string stack;  // "encoder", "decoder"
  Index layer = 0, sentence = 0;
};

// Calls `use` for every sentence and layer of every stack, in the order of the sentences.
void for_each_stream(ProbeSubject& subject,
                     const std::function<void(const StreamPlace&, const RowMatrix&)>& use);

// Whether any stack of such a model has a layer.
bool has_layers(const ModelSpec& spec);

// The stacks that the model has.
std::vector<const Stack*> stacks_of(const Transformer& model);

}  // namespace attnlab
