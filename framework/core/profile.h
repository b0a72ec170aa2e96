// Where time and memory of training steps go, by op and module path. The tape reports each op when it is
// done, and the time since the last report is that op's, so that nothing is left over and ops need no code
// for it. Counts (calls, bytes, multiply-adds, allocations) are exact and do not depend on a clock: tests may
// assert them. While no profile is in use, the cost is one test of a pointer per op, product, loop and
// allocation.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/dtype.h"

namespace attnlab {

// The part of a step; `step`: all that is not the model (batch, norm of the gradient, update).
enum class Phase : std::uint8_t { forward, backward, step };
std::string to_string(Phase phase);

// One op of one module.
struct ProfileEntry {
  Phase phase = Phase::forward;
  std::string op, path;
  Index calls = 0;
  double seconds = 0;
  // Operands and results, each once: what has to move at least. Backward: gradients of results and operands.
  double bytes_read = 0, bytes_written = 0;
  Index products = 0;  // matrix products
  double flop = 0, product_seconds = 0;
  double busy_seconds = 0, loop_seconds = 0;  // in parallel loops: at work; and the threads' time together
  Index misses = 0;                           // of the pool
  double held_bytes = 0;                      // of the memory at its peak
  void add(const ProfileEntry& other);        // all its numbers; the names stay
};

// All products of one shape: c [rows, columns] = a [rows, depth] b [depth, columns].
struct ProfiledProduct {
  Index rows = 0, columns = 0, depth = 0;
  bool a_transposed = false, b_transposed = false;
  DType type = DType::f32, result_type = DType::f32;
  Index calls = 0;
  double seconds = 0;
  double flop() const { return 2.0 * static_cast<double>(rows * columns) * static_cast<double>(depth); }
  bool same_shape(const ProfiledProduct& other) const;
};

// One slice of the timeline, in seconds since the profile was made.
struct ProfileSlice {
  std::size_t entry = 0;
  int product = -1;  // a product inside the op, or -1 for the op itself
  double start = 0, seconds = 0;
};

class Profile {
 public:
  using Clock = std::chrono::steady_clock;
  // Steps before `first_step` (from 0) run unmeasured; at most `most_slices` slices are kept.
  explicit Profile(Index first_step = 0, std::size_t most_slices = 20000);
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  // The profile that this thread measures with, or nullptr.
  static Profile* active() { return active_; }

  // One optimiser step on this thread, while the guard lives. `profile` may be nullptr.
  class Step {
   public:
    explicit Step(Profile* profile);
    ~Step();
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    Profile* profile_;
    Profile* outer_;
  };

  // Reports, made where the work is done.
  void op(Phase phase, const char* name, const std::string* path, double bytes_read, double bytes_written);
  void product(const ProfiledProduct& shape, Index count, Clock::time_point start);
  void loop(double busy_seconds, double loop_seconds);
  void taken(const void* block, std::size_t bytes, bool missed);
  void given_back(const void* block, std::size_t bytes);

  Index steps() const { return steps_; }  // that were measured
  double seconds() const { return seconds_; }
  const std::vector<ProfileEntry>& entries() const { return entries_; }  // in order of first report
  const std::vector<ProfiledProduct>& products() const { return products_; }
  const std::vector<ProfileSlice>& slices() const { return slices_; }
  double peak_bytes() const { return peak_bytes_; }      // taken within a step, when most was held
  double before_bytes() const { return before_bytes_; }  // held since before the step, at that time

 private:
  struct Block {
    std::size_t bytes;
    std::size_t entry;  // kUnnamed until its op is reported
  };
  std::size_t entry_of(Phase phase, const char* name, const std::string* path);
  void name_blocks(std::size_t entry);
  void begin();
  void end();
  double since_start(Clock::time_point time) const {
    return std::chrono::duration<double>(time - start_).count();
  }

  static thread_local Profile* active_;
  Index first_step_, seen_ = 0, steps_ = 0;
  std::size_t most_slices_;
  Clock::time_point start_, last_, step_start_;
  double seconds_ = 0;
  std::vector<ProfileEntry> entries_;
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<ProfiledProduct> products_;
  std::vector<ProfileSlice> slices_;
  ProfileEntry pending_;             // what has happened since the last op
  std::vector<ProfileSlice> inner_;  // its products
  std::unordered_map<const void*, Block> blocks_;
  std::vector<const void*> unnamed_;  // blocks taken since the last op
  std::vector<double> held_;          // by entry, now
  double live_bytes_ = 0, peak_bytes_ = 0, before_bytes_ = 0, before_now_ = 0;
  double unnamed_bytes_ = 0, unnamed_at_peak_ = 0;
  bool peak_in_op_ = false;  // the peak lies in the op that comes next
};

// Reports what was done since the last report as part of the step outside the model.
inline void profile_stage(const char* name) {
  if (Profile* profile = Profile::active()) profile->op(Phase::step, name, nullptr, 0, 0);
}

}  // namespace attnlab
