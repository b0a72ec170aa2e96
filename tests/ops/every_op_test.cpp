// Runs every gradient case, then demands that every op of the library was among them.
#include "core/tape.h"
#include "support/catch.h"
#include "support/gradient_case.h"

using namespace attnlab;

TEST_CASE("every op has a gradient check and passes it") {
  for (const GradientCase& item : GradientCase::all()) {
    const GradientReport report = check_gradients(item.make());
    INFO(item.name << ": worst at " << report.where);
    CHECK(report.worst < item.tolerance);
  }
  for (const Op* op : Op::all()) {
    INFO("op '" << op->name() << "' has no gradient check");
    CHECK(op->checked());
  }
}
