#include "attention/cache.h"

#include <cstring>
#include <numeric>

#include "core/parallel.h"

namespace attnlab {
namespace {

constexpr Index kGrain = 16;  // regions worth a thread

std::byte* row_of(const Tensor& rows, Index row) {
  return static_cast<std::byte*>(rows.raw()) + row * rows.row_stride() * size_of(rows.type());
}

// Copies `count` rows into a tensor without gaps; both have the same columns and type.
void copy_rows(const Tensor& from, Index from_row, const Tensor& to, Index to_row, Index count) {
  const auto bytes = static_cast<std::size_t>(to.columns() * size_of(to.type()));
  if (from.contiguous()) {
    std::memcpy(row_of(to, to_row), row_of(from, from_row), static_cast<std::size_t>(count) * bytes);
  } else {
    for (Index i = 0; i < count; ++i) std::memcpy(row_of(to, to_row + i), row_of(from, from_row + i), bytes);
  }
}

}  // namespace

KeyValueCache::KeyValueCache(Index count)
    : lengths_(static_cast<std::size_t>(count), 0), places_(lengths_.size()), regions_(count) {
  std::iota(places_.begin(), places_.end(), Index{0});
}

// Moves everything to new memory, hypothesis i to region i. `like` says what rows look like if there are none
// yet.
void KeyValueCache::lay_out(Index regions, Index capacity, const HeadRows* like) {
  const auto moved = [&](const Tensor& old, const Var& rows) {
    if (!old) return rows ? Tensor({regions * capacity, rows.shape().columns()}, rows.type()) : Tensor();
    const Tensor result({regions * capacity, old.columns()}, old.type());
    parallel_for(static_cast<Index>(lengths_.size()), kGrain, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const auto b = static_cast<std::size_t>(i);
        copy_rows(old, places_[b] * capacity_, result, i * capacity, lengths_[b]);
      }
    });
    return result;
  };
  key_ = moved(key_, like ? like->key : Var());
  value_ = moved(value_, like ? like->value : Var());
  std::iota(places_.begin(), places_.end(), Index{0});
  regions_ = regions;
  capacity_ = capacity;
}

void KeyValueCache::append(const HeadRows& rows, const Sequences& places) {
  const auto count = static_cast<Index>(lengths_.size());
  check(places.count() == count, "cache of ", count, " hypotheses got rows of ", places.count());
  Index needed = 0;
  for (Index b = 0; b < count; ++b)
    needed = std::max(needed, lengths_[static_cast<std::size_t>(b)] + places.length(b));
  if (needed > capacity_ || (!value_ && !key_))
    lay_out(std::max(count, regions_), std::max<Index>({needed, 2 * capacity_, 16}), &rows);
  parallel_for(count, kGrain, [&](Index begin, Index end) {
    for (Index b = begin; b < end; ++b) {
      const auto i = static_cast<std::size_t>(b);
      const Index to = places_[i] * capacity_ + lengths_[i], length = places.length(b);
      if (rows.key) copy_rows(rows.key.value(), places.offset(b), key_, to, length);
      if (rows.value) copy_rows(rows.value.value(), places.offset(b), value_, to, length);
      lengths_[i] += length;
    }
  });
}

Sequences KeyValueCache::keys() const {
  Sequences result;
  result.offsets.clear();
  for (const Index place : places_) result.offsets.push_back(place * capacity_);
  result.offsets.push_back(regions_ * capacity_);
  result.lengths = lengths_;
  return result;
}

void KeyValueCache::reorder(const std::vector<Index>& parents) {
  const auto count = static_cast<Index>(parents.size());
  if (count > regions_) lay_out(count, capacity_, nullptr);
  std::vector<Index> lengths, places(parents.size(), -1);
  std::vector<bool> taken(static_cast<std::size_t>(regions_), false);
  for (std::size_t i = 0; i < parents.size(); ++i) {
    const auto parent = static_cast<std::size_t>(parents[i]);
    lengths.push_back(lengths_[parent]);
    if (taken[static_cast<std::size_t>(places_[parent])]) continue;
    taken[static_cast<std::size_t>(places_[parent])] = true;
    places[i] = places_[parent];
  }
  std::vector<std::size_t> copied;
  Index next = 0;
  for (std::size_t i = 0; i < parents.size(); ++i) {
    if (places[i] >= 0) continue;
    while (taken[static_cast<std::size_t>(next)]) ++next;
    places[i] = next++;
    copied.push_back(i);
  }
  parallel_for(static_cast<Index>(copied.size()), kGrain, [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k) {
      const std::size_t i = copied[static_cast<std::size_t>(k)];
      const Index from = places_[static_cast<std::size_t>(parents[i])] * capacity_,
                  to = places[i] * capacity_;
      for (const Tensor& rows : {key_, value_})
        if (rows) copy_rows(rows, from, rows, to, lengths[i]);
    }
  });
  lengths_ = std::move(lengths);
  places_ = std::move(places);
}

std::size_t KeyValueCache::bytes() const {
  const auto size = [](const Tensor& t) {
    return t ? static_cast<std::size_t>(t.count() * size_of(t.type())) : 0;
  };
  return size(key_) + size(value_);
}

}  // namespace attnlab
