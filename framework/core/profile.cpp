#include "core/profile.h"

#include <algorithm>

#include "core/pool.h"

namespace attnlab {
namespace {

constexpr std::size_t kUnnamed = static_cast<std::size_t>(-1);

double seconds_between(Profile::Clock::time_point from, Profile::Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

thread_local Profile* Profile::active_ = nullptr;

std::string to_string(Phase phase) {
  switch (phase) {
    case Phase::forward:
      return "forward";
    case Phase::backward:
      return "backward";
    case Phase::step:
      break;
  }
  return "step";
}

void ProfileEntry::add(const ProfileEntry& other) {
  calls += other.calls;
  seconds += other.seconds;
  bytes_read += other.bytes_read;
  bytes_written += other.bytes_written;
  products += other.products;
  flop += other.flop;
  product_seconds += other.product_seconds;
  busy_seconds += other.busy_seconds;
  loop_seconds += other.loop_seconds;
  misses += other.misses;
  held_bytes += other.held_bytes;
}

bool ProfiledProduct::same_shape(const ProfiledProduct& other) const {
  return rows == other.rows && columns == other.columns && depth == other.depth &&
         a_transposed == other.a_transposed && b_transposed == other.b_transposed && type == other.type &&
         result_type == other.result_type;
}

Profile::Profile(Index first_step, std::size_t most_slices)
    : first_step_(first_step), most_slices_(most_slices), start_(Clock::now()), last_(start_) {}

Profile::Step::Step(Profile* profile) : profile_(profile), outer_(active_) {
  if (profile_ != nullptr && profile_->seen_++ >= profile_->first_step_)
    profile_->begin();
  else
    profile_ = nullptr;
}

Profile::Step::~Step() {
  if (profile_ != nullptr) profile_->end();
  active_ = outer_;
}

void Profile::begin() {
  blocks_.clear();
  unnamed_.clear();
  unnamed_bytes_ = live_bytes_ = 0;
  std::fill(held_.begin(), held_.end(), 0.0);
  pending_ = {};
  inner_.clear();
  before_now_ = static_cast<double>(Pool::global().counters().live_bytes);
  active_ = this;
  last_ = step_start_ = Clock::now();
}

void Profile::end() {
  op(Phase::step, "rest", nullptr, 0, 0);
  active_ = nullptr;
  seconds_ += seconds_between(step_start_, last_);
  ++steps_;
}

std::size_t Profile::entry_of(Phase phase, const char* name, const std::string* path) {
  std::string key(1, static_cast<char>('0' + static_cast<int>(phase)));
  key += name;
  key += '\n';
  if (path != nullptr) key += *path;
  const auto [place, fresh] = places_.try_emplace(std::move(key), entries_.size());
  if (fresh) {
    ProfileEntry entry;
    entry.phase = phase;
    entry.op = name;
    if (path != nullptr) entry.path = *path;
    entries_.push_back(std::move(entry));
    held_.push_back(0);
  }
  return place->second;
}

void Profile::op(Phase phase, const char* name, const std::string* path, double bytes_read,
                 double bytes_written) {
  const auto now = Clock::now();
  const std::size_t index = entry_of(phase, name, path);
  const double seconds = seconds_between(last_, now);
  pending_.calls = 1;
  pending_.seconds = seconds;
  pending_.bytes_read = bytes_read;
  pending_.bytes_written = bytes_written;
  entries_[index].add(pending_);
  pending_ = {};
  if (slices_.size() + inner_.size() < most_slices_) {
    slices_.push_back({index, -1, since_start(last_), seconds});
    for (ProfileSlice& slice : inner_) {
      slice.entry = index;
      slices_.push_back(slice);
    }
  }
  inner_.clear();
  name_blocks(index);
  last_ = Clock::now();
}

// What was taken since the last op is that op's, and what was freed again in between was its scratch.
void Profile::name_blocks(std::size_t entry) {
  if (peak_in_op_) entries_[entry].held_bytes += unnamed_at_peak_;
  peak_in_op_ = false;
  for (const void* block : unnamed_) {
    const auto found = blocks_.find(block);
    if (found == blocks_.end() || found->second.entry != kUnnamed) continue;
    found->second.entry = entry;
    held_[entry] += static_cast<double>(found->second.bytes);
  }
  unnamed_.clear();
  unnamed_bytes_ = 0;
}

void Profile::product(const ProfiledProduct& shape, Index count, Clock::time_point start) {
  const double seconds = seconds_between(start, Clock::now());
  auto place = std::find_if(products_.begin(), products_.end(),
                            [&shape](const ProfiledProduct& other) { return other.same_shape(shape); });
  if (place == products_.end()) {
    products_.push_back(shape);
    place = products_.end() - 1;
    place->calls = 0;
    place->seconds = 0;
  }
  place->calls += count;
  place->seconds += seconds;
  pending_.products += count;
  pending_.flop += static_cast<double>(count) * shape.flop();
  pending_.product_seconds += seconds;
  inner_.push_back({0, static_cast<int>(place - products_.begin()), since_start(start), seconds});
}

void Profile::loop(double busy_seconds, double loop_seconds) {
  pending_.busy_seconds += busy_seconds;
  pending_.loop_seconds += loop_seconds;
}

void Profile::taken(const void* block, std::size_t bytes, bool missed) {
  blocks_[block] = {bytes, kUnnamed};
  unnamed_.push_back(block);
  unnamed_bytes_ += static_cast<double>(bytes);
  live_bytes_ += static_cast<double>(bytes);
  if (missed) ++pending_.misses;
  if (before_now_ + live_bytes_ <= before_bytes_ + peak_bytes_) return;
  before_bytes_ = before_now_;
  peak_bytes_ = live_bytes_;
  for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].held_bytes = held_[i];
  unnamed_at_peak_ = unnamed_bytes_;
  peak_in_op_ = true;
}

void Profile::given_back(const void* block, std::size_t bytes) {
  const auto found = blocks_.find(block);
  if (found == blocks_.end()) {  // from before the step
    before_now_ -= static_cast<double>(bytes);
    return;
  }
  live_bytes_ -= static_cast<double>(bytes);
  if (found->second.entry == kUnnamed)
    unnamed_bytes_ -= static_cast<double>(bytes);
  else
    held_[found->second.entry] -= static_cast<double>(bytes);
  blocks_.erase(found);
}

}  // namespace attnlab
