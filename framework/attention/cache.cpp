#include "attention/cache.h"

#include <cstring>

namespace attnlab {
namespace {

// Copies `count` rows; both sides have the same columns and type.
void copy_rows(const Tensor& from, Index from_row, const Tensor& to, Index to_row, Index count) {
  if (count > 0) to.row_view(to_row, count).copy_from(from.row_view(from_row, count));
}

// A tensor for `count` hypotheses of `capacity` rows; parents' rows are copied over.
Tensor regrouped(const Tensor& old, Index old_capacity, Index capacity, const std::vector<Index>& parents,
                 const std::vector<Index>& lengths) {
  if (!old) return {};
  const Tensor result({static_cast<Index>(parents.size()) * capacity, old.columns()}, old.type());
  for (std::size_t i = 0; i < parents.size(); ++i)
    copy_rows(old, parents[i] * old_capacity, result, static_cast<Index>(i) * capacity, lengths[i]);
  return result;
}

}  // namespace

void KeyValueCache::grow(Index capacity, const HeadRows& like) {
  const auto count = static_cast<Index>(lengths_.size());
  std::vector<Index> same(lengths_.size());
  for (std::size_t i = 0; i < same.size(); ++i) same[i] = static_cast<Index>(i);
  const auto grown = [&](const Tensor& old, const Var& rows) {
    if (!rows) return Tensor();
    return old ? regrouped(old, capacity_, capacity, same, lengths_)
               : Tensor({count * capacity, rows.shape().columns()}, rows.type());
  };
  key_ = grown(key_, like.key);
  value_ = grown(value_, like.value);
  capacity_ = capacity;
}

void KeyValueCache::append(const HeadRows& rows, const Sequences& places) {
  check(places.count() == static_cast<Index>(lengths_.size()), "cache of ", lengths_.size(),
        " hypotheses got rows of ", places.count());
  Index needed = 0;
  for (Index b = 0; b < places.count(); ++b)
    needed = std::max(needed, lengths_[static_cast<std::size_t>(b)] + places.length(b));
  if (needed > capacity_ || (!value_ && !key_)) grow(std::max<Index>({needed, 2 * capacity_, 16}), rows);
  for (Index b = 0; b < places.count(); ++b) {
    Index& length = lengths_[static_cast<std::size_t>(b)];
    const Index to = b * capacity_ + length;
    if (rows.key) copy_rows(rows.key.value(), places.offset(b), key_, to, places.length(b));
    if (rows.value) copy_rows(rows.value.value(), places.offset(b), value_, to, places.length(b));
    length += places.length(b);
  }
}

Sequences KeyValueCache::keys() const {
  Sequences result;
  for (std::size_t b = 0; b < lengths_.size(); ++b)
    result.offsets.push_back(static_cast<Index>(b + 1) * capacity_);
  result.lengths = lengths_;
  return result;
}

void KeyValueCache::reorder(const std::vector<Index>& parents) {
  std::vector<Index> lengths;
  for (const Index parent : parents) lengths.push_back(lengths_[static_cast<std::size_t>(parent)]);
  key_ = regrouped(key_, capacity_, capacity_, parents, lengths);
  value_ = regrouped(value_, capacity_, capacity_, parents, lengths);
  lengths_ = std::move(lengths);
}

std::size_t KeyValueCache::bytes() const {
  const auto size = [](const Tensor& t) {
    return t ? static_cast<std::size_t>(t.count() * size_of(t.type())) : 0;
  };
  return size(key_) + size(value_);
}

}  // namespace attnlab
