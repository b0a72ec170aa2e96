#include "core/parallel.h"

#include <atomic>
#include <stdexcept>
#include <vector>

#include "support/catch.h"

using namespace attnlab;

TEST_CASE("parallel loops visit every item once") {
  for (const Index count : {0, 1, 5, 1000}) {
    std::vector<int> visits(static_cast<std::size_t>(count));
    parallel_for(count, 3, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
    });
    parallel_items(count, [&](Index i) { ++visits[static_cast<std::size_t>(i)]; });
    for (const int times : visits) CHECK(times == 2);
  }
}

TEST_CASE("an exception inside a parallel loop reaches the caller") {
  const auto failing = [](Index i) {
    if (i == 7) throw std::runtime_error("seven");
  };
  CHECK_THROWS_WITH(parallel_items(20, failing), "seven");
}

TEST_CASE("nested parallel loops run and cover everything") {
  std::atomic<int> sum{0};
  parallel_items(4, [&](Index) { parallel_items(5, [&](Index j) { sum += static_cast<int>(j); }); });
  CHECK(sum == 40);
}
