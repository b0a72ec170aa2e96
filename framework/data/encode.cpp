#include "data/encode.h"

#include "core/parallel.h"

namespace attnlab {

std::vector<std::vector<Token>> encode_lines(const Tokenizer& tokenizer,
                                             const std::vector<std::string>& lines) {
  std::vector<std::vector<Token>> ids(lines.size());
  parallel_for(static_cast<Index>(lines.size()), 64, [&tokenizer, &lines, &ids](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      ids[at] = tokenizer.encode(lines[at]);
    }
  });
  return ids;
}

}  // namespace attnlab
