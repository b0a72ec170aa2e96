#include "kernels/attend_group.h"

namespace attnlab::kernels::detail {

bool QueryBlock::masks(Index key_begin, Index key_end) const {
  for (Index t = 0; t < count; ++t)
    if (begin[static_cast<std::size_t>(t)] > key_begin || end[static_cast<std::size_t>(t)] < key_end)
      return true;
  return false;
}

void look(const Mask& mask, Index sentence, Index first, Index count, Index lanes, QueryBlock& block) {
  block.sentence = sentence;
  block.first = first;
  block.count = count;
  block.padded = rounded_up(count, lanes);
  block.low = std::numeric_limits<Index>::max();
  block.high = 0;
  block.begin.fill(0);
  block.end.fill(0);
  for (Index t = 0; t < count; ++t) {
    const Interval seen = mask.visible(sentence, first + t);
    if (seen.empty()) continue;
    block.begin[static_cast<std::size_t>(t)] = static_cast<std::int32_t>(seen.begin);
    block.end[static_cast<std::size_t>(t)] = static_cast<std::int32_t>(seen.end);
    block.low = std::min(block.low, seen.begin);
    block.high = std::max(block.high, seen.end);
  }
}

void add_items(const AttendInputs& inputs, Index sentence, Index rows, Index block,
               std::vector<AttendItem>& items) {
  constexpr Index kEnoughWork = Index{1} << 17;  // multiply-adds that make a piece worth handing out
  const Index columns = (inputs.query.columns() + inputs.value.columns()) / inputs.heads;
  const Index other =
      rows <= block ? std::max(inputs.mask->keys.length(sentence), inputs.mask->queries.length(sentence))
                    : kEnoughWork;
  const Index work = std::max<Index>(1, std::min(rows, block) * other * columns);
  const Index heads = std::clamp<Index>(kEnoughWork / work, 1, inputs.heads);
  for (Index head = 0; head < inputs.heads; head += heads)
    for (Index first = 0; first < rows; first += block)
      items.push_back(
          {sentence, head, std::min(heads, inputs.heads - head), first, std::min(block, rows - first)});
}

Index blocks_together(const AttendInputs& inputs) {
  constexpr Index kEnoughForEach = 8;  // pieces, so that threads end at about the same time
  Index pieces = 0;
  for (Index b = 0; b < inputs.mask->queries.count(); ++b)
    pieces += inputs.heads * ((inputs.mask->queries.length(b) + kQueryBlock - 1) / kQueryBlock);
  return std::clamp<Index>(pieces / (kEnoughForEach * thread_count()), 1, kMostBlocks);
}

bool worth_threads(const AttendInputs& inputs) {
  constexpr Index kLeastWork = Index{1} << 17;  // multiply-adds
  Index pairs = 0;
  for (Index b = 0; b < inputs.mask->queries.count(); ++b)
    pairs += inputs.mask->queries.length(b) * inputs.mask->keys.length(b);
  return pairs * (inputs.query.columns() + inputs.value.columns()) >= kLeastWork;
}

void clear_reserved(const Sequences& sequences, const Target& target) {
  if (!target.buffer || target.add) return;
  const bool whole =
      sequences.lengths.empty() && sequences.offset(0) == 0 && sequences.rows() == target.buffer.rows();
  if (!whole) target.buffer.fill(0);
}

void number_draws(const AttendInputs& inputs, Index head, QueryBlock& block) {
  const Sequences& queries = inputs.mask->queries;
  const Index row = queries.first_row + queries.offset(block.sentence) + block.first;
  for (Index t = 0; t < kQueryBlock; ++t)
    block.draws[static_cast<std::size_t>(t)] = static_cast<std::uint64_t>((row + t) * inputs.heads + head)
                                               << 20;
}

}  // namespace attnlab::kernels::detail
