// What a profile says, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "core/parameter.h"
#include "core/profile.h"

namespace attnlab {

// Memory that is held from step to step, for the table of owners.
struct StandingMemory {
  double weights = 0, working_copies = 0, gradients = 0;  // bytes; what is left over are moments
};
StandingMemory standing_memory(const ParameterSet& parameters);

// The least seconds that the library needs for each of the profile's products (see kernels/roofline.h), in
// their order; 0 where it cannot be asked.
std::vector<double> product_rooflines(const Profile& profile, double seconds_a_way = 0.02);

// Tables: time by op and by module, products by shape, memory at its peak by owner, and a summary of padding,
// balance of threads and allocations. `rooflines` may be empty. The numbers of layers become `*`.
std::string profile_table(const Profile& profile, const StandingMemory& standing,
                          const std::vector<double>& rooflines);

// Everything in the tables, entry by entry, as JSON.
std::string profile_json(const Profile& profile, const StandingMemory& standing,
                         const std::vector<double>& rooflines);

// The timeline of the first steps in the Trace Event Format, for chrome://tracing and ui.perfetto.dev.
std::string profile_trace(const Profile& profile);

}  // namespace attnlab
