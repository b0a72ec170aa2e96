#include "train/divergence.h"

#include <cmath>

#include "config/fields.h"

namespace attnlab {

void DivergenceSpec::fields(Fields& f) {
  f.choice("policy", policy, {{"stop", DivergencePolicy::stop}, {"skip", DivergencePolicy::skip}},
           "when loss or gradient is not finite: stop with exit code 4, or skip the step");
  f("skips", skips, at_least(1), "steps in a row that may be skipped", "steps");
}

bool update_is_sound(const DivergenceSpec& spec, double loss, double gradient_norm, Index step,
                     SkippedUpdates& skipped) {
  if (std::isfinite(loss) && std::isfinite(gradient_norm)) {
    skipped.in_a_row = 0;
    return true;
  }
  const std::string what = join_text("step ", step, ": loss ", loss, ", gradient norm ", gradient_norm);
  if (spec.policy == DivergencePolicy::stop)
    throw DivergedError("diverged at " + what + "; a lower rate, a longer warm-up or clipping may help");
  ++skipped.total;
  if (++skipped.in_a_row > spec.skips)
    throw DivergedError(
        join_text("diverged: ", skipped.in_a_row, " updates in a row were not finite, the last at ", what));
  return false;
}

}  // namespace attnlab
