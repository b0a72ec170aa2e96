// What an interruption leaves between the checkpoints of the schedule changes nothing that a run ends with.
#include <csignal>
#include <vector>

#include "core/error.h"
#include "support/catch.h"
#include "support/scratch.h"
#include "train/durable_file.h"
#include "train/run.h"
#include "train/small_run.h"
#include "train/trained_model.h"
#include "train/training_loop.h"

using namespace attnlab;
namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

// After the validation at step 5, which alone counts as a gain, checkpoints come every four steps.
constexpr const char* kConfig = R"(
precision: f32
data: {task: {kind: copy, symbols: 9, min_length: 2, max_length: 7, train: 90, valid: 20, test: 5}}
model: {width: 16, layers: 1, heads: 2, feed_forward: 24}
train:
  schedule: constant
  max_steps: 20
  batch_tokens: 70
  validate_every: 5
  checkpoint_every: 4
  average_last: 3
  early_stopping: {minimum_gain: 1000}
)";

Names names_in(const fs::path& folder) {
  Names names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// Runs in the folder, or on from its last checkpoint; a signal comes in the validation at `broken_at`.
EndReason go_on(const fs::path& path, Index broken_at, const std::vector<std::string>& assignments = {}) {
  SmallRun run(kConfig, assignments);
  RunFolder folder(path, FolderMode::resume);
  folder.begin({"", {}, {}, {}});
  if (const auto last = last_checkpoint(folder.checkpoints())) run.trainer->resume(Checkpoint(*last));
  const InterruptGuard guard;
  clear_interrupt();
  LoopOptions options;
  options.scores = [&run, broken_at] {
    if (run.trainer->state().step == broken_at) std::raise(SIGTERM);
    return Record();
  };
  return run_training(run.spec, *run.trainer, folder, options).reason;
}

std::vector<double> scored_weights(const fs::path& path, const std::string& which) {
  SmallRun run(kConfig, {});
  CHECK(load_scored_weights(run.spec, path / "checkpoints", run.built->parameters).name == which);
  return run.built->parameters.values().to_doubles();
}

}  // namespace

TEST_CASE("an interrupted run is scored with the average of an unbroken one") {
  const ScratchFolder whole, broken;
  REQUIRE(go_on(whole.path(), 0) == EndReason::steps_done);
  const fs::path checkpoints = broken.path() / "checkpoints";
  REQUIRE(go_on(broken.path(), 10) == EndReason::interrupted);
  CHECK(names_in(checkpoints) == Names{"best", "last", "step-10", "step-4", "step-5", "step-8"});
  CHECK(fs::read_symlink(checkpoints / "last") == "step-10");
  REQUIRE(go_on(broken.path(), 15) == EndReason::interrupted);
  CHECK(names_in(checkpoints) == Names{"best", "last", "step-12", "step-15", "step-5", "step-8"});
  const auto in_between = scored_weights(broken.path(), "mean of the last 3 checkpoints");
  fs::remove_all(checkpoints / "step-15");
  CHECK(in_between == scored_weights(broken.path(), "mean of the last 3 checkpoints"));

  REQUIRE(go_on(broken.path(), 15) == EndReason::interrupted);
  REQUIRE(go_on(broken.path(), 0) == EndReason::steps_done);
  CHECK(names_in(checkpoints) == Names{"best", "last", "step-12", "step-16", "step-20"});
  CHECK(names_in(checkpoints) == names_in(whole.path() / "checkpoints"));
  CHECK(scored_weights(broken.path(), "mean of the last 3 checkpoints") ==
        scored_weights(whole.path(), "mean of the last 3 checkpoints"));
}

TEST_CASE("a run that was interrupted before its first checkpoint can be scored") {
  const ScratchFolder scratch;
  SmallRun run(kConfig, {});
  run.trainer->step();
  CheckpointStore store(scratch.path() / "checkpoints", run.trainer->retention());
  run.trainer->save(store, {}, SavedFor::interruption);
  CHECK(scored_weights(scratch.path(), "mean of the last 1 checkpoints") ==
        run.built->parameters.values().to_doubles());
}

TEST_CASE("a result has the validation of the weights that are scored, also where the best are gone") {
  const ScratchFolder scratch;
  const fs::path checkpoints = scratch.path() / "checkpoints";
  const Names keys{"train.average_last=0", "train.keep_best=0"};
  REQUIRE(go_on(scratch.path(), 5, keys) == EndReason::interrupted);
  SmallRun run(kConfig, keys);
  run.trainer->resume(Checkpoint(*last_checkpoint(checkpoints)));
  CheckpointStore store(checkpoints, run.trainer->retention());
  for (const auto& [step, reason] : {std::pair{8, SavedFor::schedule}, {9, SavedFor::interruption}}) {
    while (run.trainer->state().step < step) run.trainer->step();
    run.trainer->save(store, {}, reason);
  }
  REQUIRE(names_in(checkpoints) == Names{"last", "step-8", "step-9"});
  RunOptions options;
  options.folder = scratch.path();
  options.mode = FolderMode::resume;
  options.deadline = Deadline(std::chrono::seconds(0));
  const Record result = run_experiment(run.spec, options).result;
  CHECK(std::get<std::string>(*result.find("scored_weights")) == "checkpoint step-9");
  CHECK(result.number("valid_nll") == run.trainer->validate()->number("valid_nll"));
}

TEST_CASE("a run whose time is up before its first step is scored as it began, and goes on") {
  const ScratchFolder scratch, whole;
  SmallRun run(kConfig, {});
  RunOptions options;
  options.folder = scratch.path() / "run";
  options.deadline = Deadline(std::chrono::seconds(0));
  const Record result = run_experiment(run.spec, options).result;
  CHECK(result.text("status") == "out_of_time");
  CHECK(result.text("scored_weights") == "mean of the last 1 checkpoints");
  CHECK(result.find("test_exact_match") != nullptr);
  REQUIRE(go_on(options.folder, 0) == EndReason::steps_done);
  REQUIRE(go_on(whole.path(), 0) == EndReason::steps_done);
  CHECK(names_in(options.folder / "checkpoints") == names_in(whole.path() / "checkpoints"));
  CHECK(scored_weights(options.folder, "mean of the last 3 checkpoints") ==
        scored_weights(whole.path(), "mean of the last 3 checkpoints"));
}

TEST_CASE("where training ends, what an interruption left there becomes one of the schedule") {
  const ScratchFolder whole, broken;
  // Without a gain after step 2 patience is out at step 6.
  const std::vector<std::string> patient{"train.early_stopping.patience=2", "train.validate_every=2"};
  REQUIRE(go_on(whole.path(), 0, patient) == EndReason::early_stopped);
  REQUIRE(go_on(broken.path(), 6, patient) == EndReason::interrupted);
  const fs::path checkpoints = broken.path() / "checkpoints";
  CHECK(scheduled_checkpoints_in(checkpoints).size() == 2);
  REQUIRE(go_on(broken.path(), 0, patient) == EndReason::early_stopped);
  CHECK(scheduled_checkpoints_in(checkpoints).size() == 3);
  CHECK(names_in(checkpoints) == names_in(whole.path() / "checkpoints"));
  CHECK(scored_weights(broken.path(), "mean of the last 3 checkpoints") ==
        scored_weights(whole.path(), "mean of the last 3 checkpoints"));
}

TEST_CASE(
    "a checkpoint off the schedule pushes none of the schedule out, and goes when a later one is there") {
  const ScratchFolder scratch;
  SmallRun run(kConfig, {});
  CheckpointStore store(scratch.path(), {.keep_last = 2, .keep_best = 0});
  const auto save = [&](Index step, SavedFor reason) {
    run.trainer->state().step = step;
    run.trainer->save(store, {}, reason);
  };
  save(1, SavedFor::schedule);
  save(2, SavedFor::schedule);
  save(3, SavedFor::interruption);
  CHECK(names_in(scratch.path()) == Names{"last", "step-1", "step-2", "step-3"});
  CHECK(store.off_schedule(3));
  CHECK_FALSE(store.off_schedule(2));
  CHECK_FALSE(store.off_schedule(7));
  save(4, SavedFor::interruption);
  CHECK(names_in(scratch.path()) == Names{"last", "step-1", "step-2", "step-4"});
  save(4, SavedFor::schedule);  // the step that it goes on from is one of the schedule after all
  CHECK(names_in(scratch.path()) == Names{"last", "step-2", "step-4"});
  save(5, SavedFor::interruption);
  save(6, SavedFor::schedule);
  CHECK(names_in(scratch.path()) == Names{"last", "step-4", "step-6"});
}
