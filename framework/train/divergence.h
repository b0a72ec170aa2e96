// What happens when a loss or a gradient is not finite: skip the update, or stop with the last good
// checkpoint kept.
#pragma once

#include "core/dtype.h"

namespace attnlab {

class Fields;

enum class DivergencePolicy { stop, skip };

struct DivergenceSpec {
  DivergencePolicy policy = DivergencePolicy::stop;
  std::int64_t skips = 5;  // steps in a row that `skip` forgives
  void fields(Fields& f);
};

// What a checkpoint keeps.
struct SkippedUpdates {
  Index total = 0, in_a_row = 0;
  bool operator==(const SkippedUpdates&) const = default;
};

// Whether the update may be made. Counts it as skipped if not. Throws DivergedError when the run must stop.
bool update_is_sound(const DivergenceSpec& spec, double loss, double gradient_norm, Index step,
                     SkippedUpdates& skipped);

}  // namespace attnlab
