#include "core/affinity.h"

#ifdef __linux__
#include <omp.h>
#include <sched.h>

#include <vector>
#endif

namespace attnlab {

void use_all_processors() {
#ifdef __linux__
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> processors(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, processors.data());
    for (const int processor : processors)
      if (processor < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(processor), &all);
  }
  if (CPU_COUNT(&all) > 0) sched_setaffinity(0, sizeof all, &all);  // on failure things stay as they are
#endif
}

}  // namespace attnlab
