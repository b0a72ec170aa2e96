#include "core/profile.h"

#include "core/parallel.h"
#include "core/tape.h"
#include "support/catch.h"

using namespace attnlab;

namespace {

const Op kCopy{"test profiled copy"};
constexpr Index kCount = 1000;
constexpr double kBytes = 8.0 * kCount;

Var copy(const Var& x) {
  const Tensor scratch(x.shape(), DType::f64);  // gone when the op is done
  return record(kCopy, {x}, x.value().clone(),
                [kept = x.value()](Gradients& g) { g.give(0, g.out().clone()); });
}

void forward_and_backward(Index copies) {
  const std::string path = "layers.0";
  Tape tape;
  const Tape::Scope scope(tape, path);
  Var y = tape.variable(Tensor::filled({kCount}, DType::f64, 1));
  for (Index i = 0; i < copies; ++i) y = copy(y);
  tape.backward(y, Tensor::filled({kCount}, DType::f64, 1));
}

const ProfileEntry* entry(const Profile& profile, Phase phase, const std::string& op) {
  for (const ProfileEntry& each : profile.entries())
    if (each.phase == phase && each.op == op) return &each;
  return nullptr;
}

}  // namespace

TEST_CASE("a profile counts ops and their bytes, forward and backward, and leaves no time over") {
  Profile profile;
  for (int step = 0; step < 2; ++step) {
    const Profile::Step measured(&profile);
    forward_and_backward(3);
    profile_stage("update");
  }
  CHECK(profile.steps() == 2);
  for (const Phase phase : {Phase::forward, Phase::backward}) {
    const ProfileEntry* copies = entry(profile, phase, "test profiled copy");
    REQUIRE(copies != nullptr);
    CHECK(copies->calls == 6);
    CHECK(copies->path == "layers.0");
    CHECK(copies->bytes_read == 6 * kBytes);
    CHECK(copies->bytes_written == 6 * kBytes);
  }
  CHECK(entry(profile, Phase::step, "update")->calls == 2);
  double seconds = 0;
  for (const ProfileEntry& each : profile.entries()) seconds += each.seconds;
  CHECK(seconds <= profile.seconds() * 1.0001);
}

TEST_CASE("nothing is measured before the first step that counts, nor outside of steps") {
  Profile profile(1);
  forward_and_backward(1);
  CHECK(Profile::active() == nullptr);
  {
    const Profile::Step unmeasured(&profile);
    CHECK(Profile::active() == nullptr);
    forward_and_backward(1);
  }
  CHECK(profile.entries().empty());
  {
    const Profile::Step measured(&profile);
    CHECK(Profile::active() == &profile);
    forward_and_backward(1);
  }
  CHECK(profile.steps() == 1);
  CHECK(entry(profile, Phase::forward, "test profiled copy")->calls == 1);
  const Profile::Step nobody(nullptr);
  CHECK(Profile::active() == nullptr);
}

TEST_CASE("memory at its peak belongs to the ops that hold it") {
  Profile profile;
  const Tensor before({10 * kCount}, DType::f64);
  {
    const Profile::Step measured(&profile);
    forward_and_backward(4);
  }
  double held = 0;
  for (const ProfileEntry& each : profile.entries()) held += each.held_bytes;
  CHECK(held == profile.peak_bytes());
  CHECK(profile.before_bytes() >= 10 * kBytes);
  // The variable, four results and two gradients; sizes are rounded up by an eighth at most.
  CHECK(profile.peak_bytes() >= 7 * kBytes);
  CHECK(profile.peak_bytes() <= 7 * 1.13 * kBytes);
  CHECK(entry(profile, Phase::forward, "test profiled copy")->held_bytes >= 5 * kBytes);
}

TEST_CASE("a profile sees how long the threads of a loop were at work") {
  Profile profile;
  {
    const Profile::Step measured(&profile);
    parallel_for(1 << 16, 1, [](Index begin, Index end) {
      volatile double sum = 0;
      for (Index i = begin; i < end; ++i) sum = sum + static_cast<double>(i);
    });
    profile_stage("loop");
  }
  const ProfileEntry* loop = entry(profile, Phase::step, "loop");
  if (thread_count() == 1) return;
  CHECK(loop->busy_seconds > 0);
  CHECK(loop->busy_seconds <= loop->loop_seconds);
}

TEST_CASE("a profile keeps no more slices than it may") {
  Profile profile(0, 5);
  {
    const Profile::Step measured(&profile);
    forward_and_backward(20);
  }
  CHECK(profile.slices().size() <= 5);
  CHECK(entry(profile, Phase::forward, "test profiled copy")->calls == 20);
}
