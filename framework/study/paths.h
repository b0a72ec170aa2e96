// A network of skip connections as a sum of paths (Dong et al. 2021, theorem 2.2): a path of length k goes
// through one head in each of k layers and past all other layers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "study/attention_places.h"
#include "study/probe_subject.h"

namespace attnlab {

// For every layer the head that the path goes through, or -1 where it goes past.
using Path = std::vector<Index>;

// All C(L, k) H^k paths of length k, or `count` of them drawn without repetition. `heads` of every layer.
std::vector<Path> paths_of_length(const std::vector<Index>& heads, Index length, Index count,
                                  std::uint64_t seed);

enum class PathAttention {
  own,    // heads look at what comes along the path
  whole,  // they look where they look in the whole network
};

// Runs one batch along paths. Only models of one stack.
class PathRunner {
 public:
  PathRunner(ProbeSubject& subject, const ModelInput& input, PathAttention attention);
  // What comes out of the last layer along a path, before a final norm. A layer that the path goes past adds
  // nothing, its norm included; in the others the skip connection around attention is cut, and an MLP works
  // as ever. With PathAttention::whole all paths together are the network itself, if it has no norms, no MLPs
  // and no biases.
  Tensor output(const Path& path) const;

 private:
  ProbeSubject& subject_;
  const ModelInput& input_;
  std::map<std::string, Tensor> maps_;  // weights in the whole network, by attention; empty: own
};

// The stack of a model that has only one.
const Stack& only_stack(const Transformer& model);

}  // namespace attnlab
