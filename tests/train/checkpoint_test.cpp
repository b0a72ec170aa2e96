#include "train/checkpoint.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <limits>

#include "config/registry.h"
#include "support/catch.h"
#include "support/scratch.h"
#include "train/checkpoint_store.h"

using namespace attnlab;
namespace fs = std::filesystem;

namespace {

// A small model with an optimiser, every number of which depends on `salt`.
struct Small {
  explicit Small(double salt, DType type = DType::f32, Index size = 40) {
    const Fill fill = [salt](std::span<double> values, Index first, const Random&) {
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = salt + static_cast<double>(first) + static_cast<double>(i);
    };
    parameters.add("a", {size, 10}, fill);
    parameters.add("frozen", {3}, fill);
    parameters.add("b", {7}, fill, false);
    parameters.finalise(type, 1, [](const Parameter& p) { return p.name() != "frozen"; });
    optimizer = Registry<OptimizerSpec>::make("adamw")->make(parameters);
    for (const auto& moment : optimizer->state()) moment.tensor.fill(salt / 2);
  }
  std::vector<std::vector<double>> everything() const {
    std::vector<std::vector<double>> all{parameters.values().to_doubles()};
    for (const auto& moment : optimizer->state()) all.push_back(moment.tensor.to_doubles());
    return all;
  }
  ParameterSet parameters;
  std::unique_ptr<Optimizer> optimizer;
};

TrainingState some_state(Index step) {
  TrainingState state;
  state.step = step;
  state.updates = step - 1;
  state.epoch = 2;
  state.batch = 5;
  state.tokens_seen = 12345;
  state.seed = 0x8000000000000007U;
  state.precision = "f32";
  state.isa = "avx2";
  state.data = "abc";
  state.batch_tokens = 77;
  state.training_seconds = 0.1 + 0.2;
  state.best = {1.0 / 3, 3, 2};
  state.skipped = {4, 1};
  state.interval = {1e-300, 2.5, 3, 4, 5};
  state.interval_seconds = 0.7;
  state.validation_due = true;
  return state;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const IoError& error) {
    return error.what();
  }
  return "";
}

void damage(const fs::path& path, std::streamoff at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(at);
  const char c = static_cast<char>(file.get() ^ 1);
  file.seekp(at);
  file.put(c);
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a checkpoint gives back weights, moments and state to the bit") {
  const ScratchFolder scratch;
  for (const DType type : {DType::f32, DType::bf16, DType::f64}) {
    const Small from(1.0 / 3, type);
    Small to(7, type);
    write_checkpoint(scratch.path() / "c", from.parameters, from.optimizer.get(), some_state(9), 0.25);
    const Checkpoint checkpoint(scratch.path() / "c");
    checkpoint.load(to.parameters, *to.optimizer);
    CHECK(to.everything() == from.everything());
    CHECK(to.optimizer->updates() == 8);
    CHECK(checkpoint.state() == some_state(9));
    CHECK(checkpoint.score() == 0.25);
    CHECK(to.parameters.find("a")->compute().to_doubles() ==
          from.parameters.find("a")->compute().to_doubles());
  }
  CHECK(names_in(scratch.path()) == Names{"c"});
  CHECK(names_in(scratch.path() / "c") == Names{"model.safetensors", "optimizer.safetensors", "state.json"});
}

TEST_CASE("a run whose first score is not finite has the same state when it goes on") {
  const ScratchFolder scratch;
  const Small model(1);
  const auto read_back = [&](const TrainingState& state) {
    write_checkpoint(scratch.path() / "c", model.parameters, model.optimizer.get(), state, state.best.score);
    return Checkpoint(scratch.path() / "c").state();
  };
  for (const double score : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    TrainingState state = some_state(9);
    state.best = {};
    note_score({}, score, 9, state.best);
    CHECK(read_back(state) == state);
    state.best.score = score;  // as earlier programs kept it
    CHECK_FALSE(read_back(state).best.score);
  }
}

TEST_CASE("a damaged or foreign checkpoint is a named error and changes nothing") {
  const ScratchFolder scratch;
  const Small from(1);
  const fs::path folder = scratch.path() / "c";
  const auto fresh = [&] { write_checkpoint(folder, from.parameters, from.optimizer.get(), some_state(9)); };
  const auto refuses = [&folder](const std::string& why) {
    Small to(5);
    const auto before = to.everything();
    const std::string error = error_of([&] { Checkpoint(folder).load(to.parameters, *to.optimizer); });
    INFO(error);
    CHECK(error.find(why) != std::string::npos);
    CHECK(to.everything() == before);
  };
  fresh();
  damage(folder / "model.safetensors",
         static_cast<std::streamoff>(fs::file_size(folder / "model.safetensors")) - 3);
  refuses("model.safetensors is damaged");
  fresh();
  damage(folder / "optimizer.safetensors", 700);
  refuses("optimizer.safetensors is damaged");
  fresh();
  fs::resize_file(folder / "optimizer.safetensors", 100);
  refuses("optimizer.safetensors is damaged: 100 bytes");
  fresh();
  fs::remove(folder / "model.safetensors");
  refuses("cannot read");
  fresh();
  fs::resize_file(folder / "state.json", 200);
  refuses("state.json is damaged or not from attnlab");
  fresh();
  std::string text = read_small_file(folder / "state.json");
  text.replace(text.find("\"version\": 1"), 12, "\"version\": 2");
  write_durably(folder / "state.json", text);
  refuses("format version 2");
  text.replace(text.find("\"version\": 2"), 12, "\"version\": 1");
  text.replace(text.find("\"epoch\""), 7, "\"epohc\"");
  write_durably(folder / "state.json", text);
  refuses("'epoch' is missing");
  fs::remove_all(folder);
  refuses("is no checkpoint");
}

TEST_CASE("a checkpoint of another model is refused whole") {
  const ScratchFolder scratch;
  const Small from(1);
  write_checkpoint(scratch.path() / "c", from.parameters, from.optimizer.get(), some_state(9));
  const Checkpoint checkpoint(scratch.path() / "c");
  Small larger(2, DType::f32, 41);
  const auto before = larger.everything();
  CHECK(error_of([&] {
          checkpoint.load(larger.parameters, *larger.optimizer);
        }).find("'a' has another shape") != std::string::npos);
  CHECK(larger.everything() == before);
  ParameterSet other;
  other.add("a", {40, 10}, [](std::span<double>, Index, const Random&) {});
  other.finalise(DType::f32, 1, [](const Parameter&) { return true; });
  CHECK(error_of([&] { checkpoint.load_weights(other); }).find("holds 'frozen'") != std::string::npos);
  Small wide(3, DType::f64);
  checkpoint.load_weights(wide.parameters);
  CHECK(wide.parameters.find("b")->value().to_doubles() == from.parameters.find("b")->value().to_doubles());
}

TEST_CASE("the store keeps the last and the best and moves its links") {
  const ScratchFolder scratch;
  const fs::path folder = scratch.path() / "checkpoints";
  const Small model(1);
  CheckpointStore store(folder, {2, 1, true});
  const std::vector<std::optional<double>> scores{{}, 10.0, 30.0, 20.0, {}, 30.0};
  for (std::size_t i = 0; i < scores.size(); ++i)
    store.save(model.parameters, model.optimizer.get(), some_state(static_cast<Index>(i + 1) * 5), scores[i]);
  CHECK(names_in(folder) == Names{"best", "last", "step-15", "step-25", "step-30"});
  CHECK(fs::read_symlink(folder / "last") == "step-30");
  CHECK(best_checkpoint(folder) == folder / "step-15");
  CHECK(last_checkpoint(folder) == folder / "step-30");
  CHECK(Checkpoint(folder / "best").state().step == 15);
  store.save(model.parameters, model.optimizer.get(), some_state(30), 40.0);  // the same step again
  CHECK(fs::read_symlink(folder / "best") == "step-30");
  CHECK(names_in(folder) == Names{"best", "last", "step-25", "step-30"});
}

TEST_CASE("a store in a link to another run's checkpoints saves into a copy of its own") {
  const ScratchFolder scratch;
  const fs::path other = scratch.path() / "other", folder = scratch.path() / "checkpoints";
  const Small model(1);
  CheckpointStore theirs(other, {2, 1, true});
  for (const Index step : {5, 10})
    theirs.save(model.parameters, model.optimizer.get(), some_state(step), 1.0);
  const Names before = names_in(other);
  fs::create_directory_symlink("other", folder);
  CheckpointStore store(folder, {1, 0, true});
  CHECK(fs::is_symlink(folder));  // it may only be scored
  store.save(model.parameters, model.optimizer.get(), some_state(15));
  CHECK_FALSE(fs::is_symlink(folder));
  CHECK(names_in(folder) == Names{"last", "step-15"});
  CHECK(names_in(other) == before);
}

TEST_CASE("the average of checkpoints is the mean of their weights") {
  const ScratchFolder scratch;
  std::vector<fs::path> folders;
  for (const double salt : {1.0, 2.0, 6.0}) {
    const Small model(salt);
    folders.push_back(scratch.path() / std::to_string(salt));
    write_checkpoint(folders.back(), model.parameters, nullptr, some_state(1));
  }
  Small mean(0);
  load_average(folders, mean.parameters);
  const auto expected = Small(3).parameters.find("a")->value().to_doubles();
  const auto actual = mean.parameters.find("a")->value().to_doubles();
  for (std::size_t i = 0; i < expected.size(); ++i) REQUIRE(actual[i] == Approx(expected[i]).epsilon(1e-6));
}

TEST_CASE("a full disk leaves the last good checkpoint") {
  const ScratchFolder scratch;
  const fs::path folder = scratch.path() / "checkpoints";
  const Small good(1), bad(2);
  CheckpointStore store(folder, {1, 1, false});
  store.save(good.parameters, good.optimizer.get(), some_state(1), 0.5);
  const auto before = names_in(folder);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  for (const rlim_t limit : {0, 5, 900, 2500}) {  // nothing, a part of the model, a part of the moments
    const rlimit small{limit, old.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const std::string error =
        error_of([&] { store.save(bad.parameters, bad.optimizer.get(), some_state(2)); });
    ::setrlimit(RLIMIT_FSIZE, &old);
    CHECK(error.find("cannot write") != std::string::npos);
    CHECK(names_in(folder) == before);
  }
  std::signal(SIGXFSZ, handler);
  Small loaded(9);
  Checkpoint(*last_checkpoint(folder)).load(loaded.parameters, *loaded.optimizer);
  CHECK(loaded.everything() == good.everything());
}

TEST_CASE("an unwritable place is a named error") {
  const ScratchFolder scratch;
  std::ofstream(scratch.path() / "file") << "x";
  CHECK(error_of([&] {
          CheckpointStore store(scratch.path() / "file" / "checkpoints", {});
        }).find("cannot create") == 0);
  const Small model(1);
  const fs::path nowhere = scratch.path() / "nowhere" / "step-1";
  CHECK(error_of([&] {
          write_checkpoint(nowhere, model.parameters, nullptr, some_state(1));
        }).find("cannot create") == 0);
}

TEST_CASE("a run killed in the middle of a write leaves whole checkpoints alone") {
  const ScratchFolder scratch;
  const fs::path folder = scratch.path() / "checkpoints";
  const Small good(1), bad(2);
  CheckpointStore(folder, {1, 1, false}).save(good.parameters, good.optimizer.get(), some_state(1));
  // The kernel kills the child where a file grows beyond the limit: within the model, or between the two
  // files.
  for (const rlim_t limit : {7, 1000, 2000, 3000}) {
    const pid_t child = ::fork();
    if (child == 0) {
      const rlimit small{limit, limit};
      const rlimit no_core{0, 0};
      ::setrlimit(RLIMIT_CORE, &no_core);
      ::setrlimit(RLIMIT_FSIZE, &small);
      std::signal(SIGXFSZ, SIG_DFL);
      try {
        write_checkpoint(folder / "step-2", bad.parameters, bad.optimizer.get(), some_state(2));
      } catch (...) {
      }
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    REQUIRE(WTERMSIG(status) == SIGXFSZ);
    CHECK(checkpoints_in(folder).size() == 1);
    CHECK(names_in(folder).size() > 2);  // the half-written folder is there under its temporary name …
    const CheckpointStore cleaned(folder, {1, 1, false});
    CHECK(names_in(folder) == Names{"last", "step-1"});  // … until the next run
    Small loaded(9);
    Checkpoint(*last_checkpoint(folder)).load(loaded.parameters, *loaded.optimizer);
    REQUIRE(loaded.everything() == good.everything());
  }
}

TEST_CASE("a run killed at any moment leaves a whole last checkpoint") {
  const ScratchFolder scratch;
  const fs::path folder = scratch.path() / "checkpoints";
  for (int round = 0; round < 8; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        const Small model(1);
        CheckpointStore store(folder, {1, 1, false});
        for (Index step = 1;; ++step)
          store.save(model.parameters, model.optimizer.get(), some_state(step % 4 + 1),
                     static_cast<double>(step % 3));
      } catch (...) {
        ::_exit(1);
      }
    }
    while (!last_checkpoint(folder)) ::usleep(500);
    ::usleep(static_cast<useconds_t>(1000 + 1700 * round));
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    const auto all = checkpoints_in(folder);
    REQUIRE(!all.empty());
    for (const auto& path : all) REQUIRE_NOTHROW(Checkpoint(path));
    Small loaded(9);
    Checkpoint(all.back()).load(loaded.parameters, *loaded.optimizer);
    CHECK(loaded.everything() == Small(1).everything());
  }
}
