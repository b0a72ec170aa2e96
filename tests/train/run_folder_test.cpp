#include "train/run_folder.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <fstream>

#include "config/error.h"
#include "core/error.h"
#include "support/catch.h"
#include "support/scratch.h"
#include "train/durable_file.h"
#include "train/environment.h"
#include "train/metrics_log.h"

using namespace attnlab;
namespace fs = std::filesystem;

namespace {

RunPapers papers_of(const std::string& config) {
  return {config, {}, {"seed=3"}, {{"cpu", std::string("x")}}};
}

void begin_run(const fs::path& path) { RunFolder(path, FolderMode::resume).begin(papers_of("a: 1\n")); }

std::string text_of(const fs::path& path) { return read_small_file(path); }

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("a fresh run folder gets its papers and a lock") {
  const ScratchFolder scratch;
  const fs::path path = scratch.path() / "runs" / "x";
  fs::create_directories(scratch.path() / "one");
  std::ofstream(scratch.path() / "base.yaml") << "a: 1\n";
  std::ofstream(scratch.path() / "one" / "base.yaml") << "a: 2\n";
  {
    RunFolder folder(path, FolderMode::fresh);
    CHECK(!fs::exists(path));
    RunPapers papers = papers_of("seed: 3\n");
    papers.given = {scratch.path() / "base.yaml", scratch.path() / "one" / "base.yaml"};
    folder.begin(papers);
    CHECK(text_of(path / "config.yaml") == "seed: 3\n");
    CHECK(names_in(path / "config.given") == std::vector<std::string>{"base-2.yaml", "base.yaml", "set.txt"});
    CHECK(text_of(path / "config.given" / "base-2.yaml") == "a: 2\n");
    CHECK(text_of(path / "config.given" / "set.txt") == "seed=3\n");
    CHECK(parse_record(text_of(path / "environment.json"), "e") == papers.environment);
    CHECK(text_of(path / "lock").find("pid " + std::to_string(::getpid())) == 0);
    CHECK(!folder.finished());
    folder.write_result({{"status", std::string("done")}, {"valid_bleu", 37.5}});
    CHECK(folder.finished());
    CHECK(!folder.has_checkpoint());
    CHECK(!folder.took_over_lock());
  }
  CHECK(!fs::exists(path / "lock"));
}

TEST_CASE("a used run folder is refused untouched without resume or overwrite") {
  const ScratchFolder scratch;
  std::ofstream(scratch.path() / "notes") << "mine";
  CHECK_THROWS_AS(RunFolder(scratch.path(), FolderMode::fresh), ConfigError);
  CHECK_THROWS_AS(RunFolder(scratch.path() / "notes", FolderMode::resume), ConfigError);
  CHECK(names_in(scratch.path()) == std::vector<std::string>{"notes"});
  RunFolder resumed(scratch.path(), FolderMode::resume);
  resumed.begin(papers_of("b: 2\n"));
  CHECK(text_of(scratch.path() / "notes") == "mine");
  CHECK(resumed.resolved_config() == "b: 2\n");
}

TEST_CASE("overwriting removes nothing before the new run begins") {
  const ScratchFolder scratch;
  std::ofstream(scratch.path() / "config.yaml") << "old";
  fs::create_directories(scratch.path() / "checkpoints" / "step-1");
  {
    const RunFolder folder(scratch.path(), FolderMode::overwrite);
    CHECK(folder.resolved_config() == "old");
  }
  CHECK(fs::exists(scratch.path() / "checkpoints" / "step-1"));
  RunFolder folder(scratch.path(), FolderMode::overwrite);
  RunPapers broken = papers_of("new");
  broken.given = {scratch.path() / "missing.yaml"};
  CHECK_THROWS_AS(folder.begin(broken), IoError);
  CHECK(text_of(scratch.path() / "config.yaml") == "old");
  CHECK(fs::exists(scratch.path() / "checkpoints" / "step-1"));
  RunFolder again(scratch.path() / ".", FolderMode::overwrite);
  CHECK_THROWS_AS(again.begin(papers_of("new")), IoError);  // the first still holds the lock
}

TEST_CASE("overwriting replaces everything") {
  const ScratchFolder scratch;
  begin_run(scratch.path());
  std::ofstream(scratch.path() / "old.txt") << "old";
  RunFolder folder(scratch.path(), FolderMode::overwrite);
  folder.begin(papers_of("new"));
  CHECK(names_in(scratch.path()) ==
        std::vector<std::string>{"checkpoints", "config.given", "config.yaml", "environment.json", "lock"});
}

TEST_CASE("overwriting is for a run, and for no more than one") {
  const ScratchFolder scratch;
  const fs::path runs = scratch.path() / "runs";
  const auto refusal = [](const fs::path& path) -> std::string {
    try {
      const RunFolder folder(path, FolderMode::overwrite);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  begin_run(runs / "study" / "arm" / "seed-1");
  CHECK(refusal(runs).find("error: " + runs.string() + " holds something else than a run") == 0);
  CHECK(refusal(runs / "study" / "arm" / "seed-1").empty());
  begin_run(runs);  // with others below, and with a link to one
  CHECK(refusal(runs).find("holds another run, " + (runs / "study" / "arm" / "seed-1").string()) !=
        std::string::npos);
  fs::rename(runs / "study", scratch.path() / "study");
  fs::create_directory_symlink(scratch.path() / "study" / "arm" / "seed-1", runs / "link");
  CHECK(refusal(runs).empty());

  const fs::path mine = scratch.path() / "mine";
  fs::create_directories(mine / "checkpoints");
  CHECK(!refusal(mine).empty());  // another program's
  fs::remove(mine / "checkpoints");
  CHECK(refusal(mine).empty());
  std::ofstream(mine / "config.yaml") << "mine";
  CHECK(!refusal(mine).empty());
  fs::remove(mine / "config.yaml");
  // What is left of runs that were killed while they began, or that were to score the weights of others.
  fs::create_directories(mine / "config.given");
  fs::create_directories(temporary_name(mine / "replaced") / "checkpoints");
  std::ofstream(mine / "environment.json") << "{}";
  fs::create_directory_symlink(runs / "checkpoints", mine / "checkpoints");
  CHECK(refusal(mine).empty());
  std::ofstream(mine / "notes") << "mine";
  CHECK(!refusal(mine).empty());
}

TEST_CASE("a run folder on a full disk keeps what it had") {
  const ScratchFolder scratch;
  begin_run(scratch.path());
  std::ofstream(scratch.path() / "config.yaml") << "old";
  RunFolder folder(scratch.path(), FolderMode::overwrite);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const rlimit small{64, old.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  CHECK_THROWS_AS(folder.begin(papers_of(std::string(1000, 'x'))), IoError);
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  CHECK(text_of(scratch.path() / "config.yaml") == "old");
}

TEST_CASE("a lock is held by a live run and taken over from a dead one") {
  const ScratchFolder scratch;
  std::ofstream(scratch.path() / "lock") << "pid 999999999\nhost elsewhere\n";
  {
    const RunLock lock(scratch.path());
    CHECK(lock.took_over());
    CHECK_THROWS_AS(RunLock(scratch.path()), IoError);
  }
  CHECK(!fs::exists(scratch.path() / "lock"));
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const RunLock lock(scratch.path());
    const char byte = 'x';
    if (::write(ready[1], &byte, 1) == 1) ::pause();
    ::_exit(0);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  try {
    const RunLock lock(scratch.path());
    FAIL("two runs hold one lock");
  } catch (const IoError& error) {
    CHECK(std::string(error.what()).find("pid " + std::to_string(child)) != std::string::npos);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const RunLock lock(scratch.path());
  CHECK(lock.took_over());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("metrics are lines of JSON and CSV, cut at the resumed step") {
  const ScratchFolder scratch;
  {
    MetricsLog log(scratch.path(), 0);
    log.write({{"step", std::int64_t{1}}, {"loss", 0.1}});
    log.write({{"step", std::int64_t{2}}, {"loss", std::nan("")}});
    log.write({{"step", std::int64_t{2}}, {"valid_text", std::string("a \"b\", c")}});
    log.write({{"step", std::int64_t{3}}, {"loss", 1e-9}});
  }
  CHECK(text_of(scratch.path() / "metrics.csv") ==
        "step,loss,valid_text\n1,0.1,\n2,nan,\n2,,\"a \"\"b\"\", c\"\n3,1e-09,\n");
  std::ofstream(scratch.path() / "metrics.jsonl", std::ios::app) << R"({"step":4,"lo)";
  {
    MetricsLog log(scratch.path(), 2);
    log.write({{"step", std::int64_t{3}}, {"loss", 7.0}});
  }
  CHECK(text_of(scratch.path() / "metrics.jsonl") ==
        "{\"step\":1,\"loss\":0.1}\n{\"step\":2,\"loss\":null}\n{\"step\":2,\"valid_text\":\"a \\\"b\\\", "
        "c\"}\n"
        "{\"step\":3,\"loss\":7.0}\n");
  CHECK(text_of(scratch.path() / "metrics.csv") ==
        "step,loss,valid_text\n1,0.1,\n2,nan,\n2,,\"a \"\"b\"\", c\"\n3,7.0,\n");
}

TEST_CASE("records keep order, types and values") {
  const Record record{
      {"b", true}, {"whole", std::int64_t{-(1LL << 62)}}, {"real", 0.1 + 0.2}, {"text", std::string("ü\n")}};
  CHECK(parse_record(to_json_line(record), "r") == record);
  CHECK(parse_record(to_json_text(record), "r") == record);
  CHECK_THROWS_AS(parse_record("[1]", "r"), IoError);
  CHECK_THROWS_AS(parse_record(R"({"a":{}})", "r"), IoError);
  CHECK_THROWS_AS(record.number("text"), IoError);
  CHECK_THROWS_AS(record.number("none"), IoError);
  CHECK(environment_record().find("cpu") != nullptr);
  CHECK(peak_memory_bytes() > 1 << 20);
}
