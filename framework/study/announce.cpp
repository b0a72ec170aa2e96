#include "study/announce.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/closest.h"
#include "train/log.h"

namespace attnlab {
namespace {

void announce_unjudged(const Study& study) {
  if (study.unjudged.empty()) return;
  std::string text;
  for (const UnjudgedClaim& claim : study.unjudged)
    text += fmt::format("{}'{}' ({})", text.empty() ? "" : ", ", claim.name, join_names(claim.left_out));
  log_info("claims that are not judged, with their arms that are left out: " + text);
}

}  // namespace

void announce(const Study& study, const Planner& planner, Index seeds, const std::list<Job>& jobs,
              Index awaited) {
  const auto count = [&jobs](auto what) { return std::count_if(jobs.begin(), jobs.end(), what); };
  const auto found = count([](const Job& job) { return job.found(); });
  const auto kept = count([](const Job& job) { return job.kept() != nullptr; });
  const auto trials = count([](const Job& job) { return job.run().trial; });
  log_info(fmt::format("study {}: {} arms, {} seeds, {} runs{}; {} are there already{}", study.folder_name(),
                       study.arms.size(), seeds, std::ssize(jobs) + awaited,
                       trials > 0 ? fmt::format(", {} of them to choose rates", trials) : "", found,
                       kept > 0 ? fmt::format(", {} of them as kept results alone", kept) : ""));
  for (const Job& job : jobs)
    if (!job.run().prepares.empty() && !job.found())
      log_info(fmt::format("first of all, for arms to start from: {}", job.name()));
  announce_unjudged(study);
  for (std::size_t arm = 0; arm < study.arms.size(); ++arm) {
    if (planner.rates(arm).size() != 2) continue;
    log_warning(study.arms[arm].name +
                " tries two rates, of which the best is always at an edge: no claim on it can be decided; "
                "try three or more");
    break;
  }
  if (const auto replaced = count([](const Job& job) { return job.replaces_stale(); }); replaced > 0)
    log_warning(fmt::format("{} results are of other code and will be made again; --reuse-stale keeps them",
                            replaced));
}

}  // namespace attnlab
