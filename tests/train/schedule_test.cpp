#include "train/schedule.h"

#include <cmath>

#include "config/registry.h"
#include "config/spec.h"
#include "support/catch.h"

using namespace attnlab;

namespace {

struct Holder {
  std::shared_ptr<ScheduleSpec> schedule;
  void fields(Fields& f) { f.kind("schedule", schedule, "the schedule"); }
};
Schedule make_schedule(const std::string& keys, const ScheduleContext& context) {
  Holder holder;
  read_spec(Tree::parse("schedule: {" + keys + "}"), holder);
  return {holder.schedule, context};
}

}  // namespace

TEST_CASE("noam is equation 3 of Vaswani et al.") {
  const Schedule schedule =
      make_schedule("kind: noam, factor: 2, warmup_steps: 4000", {{}, 512, 100000, 100});
  for (const Index step : {1, 10, 3999, 4000, 4001, 50000, 100000}) {
    const auto s = static_cast<double>(step);
    const double expected = 2 * std::pow(512, -0.5) * std::min(std::pow(s, -0.5), s * std::pow(4000, -1.5));
    CHECK(schedule.rate(step) == Approx(expected).epsilon(1e-12));
  }
  const Schedule stated = make_schedule("kind: noam, warmup_steps: 100", {0.25, 512, 1000, 100});
  CHECK(stated.rate(100) == 0.25);
  CHECK(stated.rate(400) == Approx(0.125));
}

TEST_CASE("schedules after their warm-up") {
  const ScheduleContext context{0.5, 512, 110, 20};
  const auto rate = [&context](const std::string& keys, Index step) {
    return make_schedule(keys, context).rate(step);
  };
  CHECK(rate("kind: constant", 1) == 0.5);
  CHECK(rate("kind: constant, warmup_steps: 10", 110) == 0.5);
  CHECK(rate("kind: linear, warmup_steps: 10", 10) == 0.5);
  CHECK(rate("kind: linear, warmup_steps: 10", 60) == Approx(0.25));
  CHECK(rate("kind: linear, warmup_steps: 10", 110) == 0);
  CHECK(rate("kind: linear, warmup_steps: 10, final_share: 0.1", 110) == Approx(0.05));
  CHECK(rate("kind: linear, warmup_steps: 10, final_share: 0.1", 500) == Approx(0.05));
  CHECK(rate("kind: cosine, warmup_steps: 10", 60) == Approx(0.25));
  CHECK(rate("kind: cosine, warmup_steps: 10", 35) ==
        Approx(0.5 * 0.5 * (1 + std::cos(std::acos(-1.0) / 4))));
  CHECK(rate("kind: cosine, warmup_steps: 10", 110) == Approx(0).margin(1e-15));
  CHECK(rate("kind: inverse_sqrt, warmup_steps: 16", 64) == Approx(0.25));
  CHECK(rate("kind: inverse_sqrt", 1) == 0.5);
  CHECK(make_schedule("kind: constant", {}).rate(7) == 0.001);
}

TEST_CASE("every schedule warms up from above zero, in steps or epochs") {
  REQUIRE(Registry<ScheduleSpec>::list().size() == 5);
  for (const auto& kind : Registry<ScheduleSpec>::list()) {
    INFO(kind.name);
    const auto in_steps = make_schedule("kind: " + kind.name + ", warmup_steps: 40", {1.0, 64, 400, 20});
    const auto in_epochs = make_schedule("kind: " + kind.name + ", warmup_epochs: 2", {1.0, 64, 400, 20});
    CHECK(in_steps.rate(1) == Approx(1.0 / 40));
    CHECK(in_steps.rate(40) == Approx(1));
    CHECK(in_steps.rate(41) <= 1);
    for (Index step = 1; step <= 400; ++step) {
      CHECK(in_steps.rate(step) == in_epochs.rate(step));
      CHECK(in_steps.rate(step) >= 0);
    }
    CHECK_THROWS_AS(in_steps.rate(0), ShapeError);
    const auto cold = make_schedule("kind: " + kind.name + ", warmup_steps: 0", {1.0, 64, 400, 20});
    CHECK(cold.rate(1) > 0.99);
  }
}

TEST_CASE("a schedule prints as a table") {
  const auto table = make_schedule("kind: linear, warmup_steps: 7", {0.5, 512, 100, 20}).table(4);
  CHECK(table.find("         1  0.07143\n") != std::string::npos);
  CHECK(table.find("         7  0.5\n") != std::string::npos);
  CHECK(table.find("        50  0.2688\n") != std::string::npos);
  CHECK(table.find("       100  0\n") != std::string::npos);
}
