// A program of someone else's: lists the attentions and holds one to its promises.
#include <cstdio>

#include "attention/attention.h"
#include "attention/properties.h"
#include "models/transformer.h"

int main() {
  using namespace attnlab;
  for (const auto& kind : Registry<AttentionSpec>::list())
    std::printf("%s: %s\n", kind.name.c_str(), kind.doc.c_str());
  const auto results = check_attention("scaled_dot");
  std::printf("scaled_dot: %zu properties\n", results.size());
  return none_failed(results) && results.size() >= 14 ? 0 : 1;
}
