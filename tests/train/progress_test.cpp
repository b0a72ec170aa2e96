// What decides about the course of a run: signals, time, early stopping, divergence, sums of metrics.
#include <sys/wait.h>
#include <unistd.h>
#include <cmath>

#include <csignal>
#include <limits>
#include <thread>

#include "config/error.h"
#include "support/catch.h"
#include "train/divergence.h"
#include "train/early_stopping.h"
#include "train/interrupt.h"
#include "train/loss_sums.h"

using namespace attnlab;

TEST_CASE("signals set a flag while the guard lives") {
  const auto before = std::signal(SIGTERM, SIG_IGN);
  for (const int signal : {SIGTERM, SIGINT}) {
    const InterruptGuard guard;
    CHECK(interrupt_signal() == 0);
    std::raise(signal);
    CHECK(interrupt_signal() == signal);
  }
  CHECK(std::signal(SIGTERM, before) == SIG_IGN);  // restored
  clear_interrupt();
}

TEST_CASE("a second SIGINT kills") {
  const pid_t child = ::fork();
  if (child == 0) {
    const InterruptGuard guard;
    std::raise(SIGINT);
    if (interrupt_signal() != SIGINT) ::_exit(1);
    std::raise(SIGINT);
    ::_exit(2);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGINT);
}

TEST_CASE("durations") {
  CHECK(parse_duration("90s").count() == 90);
  CHECK(parse_duration("10m").count() == 600);
  CHECK(parse_duration("2h").count() == 7200);
  CHECK(parse_duration("1d2h3m4s").count() == 86400 + 7200 + 180 + 4);
  for (const char* wrong :
       {"", "10", "m", "1.5h", "-3m", "10 m", "10mm", "0s", "99999999999999999999h", "9999999d", "2h5"})
    CHECK_THROWS_AS(parse_duration(wrong), ConfigError);
  CHECK(!Deadline().passed());
  CHECK(!Deadline(std::chrono::seconds(1000)).passed());
  CHECK(Deadline(std::chrono::seconds(0)).passed());
}

TEST_CASE("early stopping on any metric") {
  EarlyStoppingSpec spec;
  spec.metric = "valid_bleu";
  spec.patience = 2;
  CHECK(spec.higher());
  BestSoFar best;
  CHECK(!note_score(spec, std::nan(""), 1, best));
  CHECK(note_score(spec, 10, 2, best));
  CHECK(!note_score(spec, 9, 3, best));
  CHECK(!should_stop(spec, best));
  CHECK(note_score(spec, 11, 4, best));
  CHECK(best == BestSoFar{11.0, 4, 0});
  CHECK(!note_score(spec, 11, 5, best));
  CHECK(!note_score(spec, std::nan(""), 6, best));
  CHECK(should_stop(spec, best));
  spec.patience = 0;
  CHECK(!should_stop(spec, best));

  EarlyStoppingSpec loss;
  loss.minimum_gain = 0.1;
  CHECK(!loss.higher());
  BestSoFar lowest;
  CHECK(note_score(loss, 2, 1, lowest));
  CHECK(!note_score(loss, 1.95, 2, lowest));
  CHECK(note_score(loss, 1.8, 3, lowest));
  loss.higher_is_better = true;
  CHECK(loss.higher());

  CHECK(score_of(loss, {{"step", std::int64_t{3}}, {"valid_nll", 0.5}}) == 0.5);
  CHECK_THROWS_AS(score_of(loss, {{"step", std::int64_t{3}}}), ConfigError);
}

TEST_CASE("a score that is not finite is never the best") {
  const double infinite = std::numeric_limits<double>::infinity();
  EarlyStoppingSpec spec;
  for (const bool higher : {false, true}) {
    spec.higher_is_better = higher;
    BestSoFar best;
    for (const double score : {infinite, -infinite, std::nan("")}) CHECK(!note_score(spec, score, 1, best));
    CHECK(best == BestSoFar{{}, 0, 3});
    CHECK(note_score(spec, 7, 2, best));
    CHECK(!note_score(spec, higher ? infinite : -infinite, 3, best));
  }
}

TEST_CASE("a step that is not finite stops the run or is skipped") {
  const double infinite = std::numeric_limits<double>::infinity(), none = std::nan("");
  DivergenceSpec spec;
  SkippedUpdates skipped;
  CHECK(update_is_sound(spec, 1, 1, 1, skipped));
  CHECK_THROWS_AS(update_is_sound(spec, none, 1, 2, skipped), DivergedError);
  CHECK_THROWS_AS(update_is_sound(spec, 1, infinite, 2, skipped), DivergedError);
  CHECK(skipped == SkippedUpdates{});
  spec.policy = DivergencePolicy::skip;
  spec.skips = 2;
  CHECK(!update_is_sound(spec, none, 1, 3, skipped));
  CHECK(!update_is_sound(spec, 1, none, 4, skipped));
  CHECK(update_is_sound(spec, 1, 1, 5, skipped));
  CHECK(skipped == SkippedUpdates{2, 0});
  CHECK(!update_is_sound(spec, none, 1, 6, skipped));
  CHECK(!update_is_sound(spec, none, 1, 7, skipped));
  CHECK_THROWS_AS(update_is_sound(spec, none, 1, 8, skipped), DivergedError);
}

TEST_CASE("loss sums add up to metrics per token") {
  LossSums sum{10, 8, 4, 6, 3};
  sum.add({20, 12, 6, 9, 1});
  const Record metrics = sum.metrics("valid_");
  CHECK(metrics.number("valid_loss") == 3);
  CHECK(metrics.number("valid_nll") == 2);
  CHECK(metrics.number("valid_perplexity") == Approx(std::exp(2.0)));
  CHECK(metrics.number("valid_accuracy") == 0.4);
  CHECK(sum.source_tokens == 15);
}
