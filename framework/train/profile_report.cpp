#include "train/profile_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "core/numbered_name.h"
#include "core/parallel.h"
#include "kernels/roofline.h"

namespace attnlab {
namespace {

constexpr std::size_t kMostLines = 40;

std::string module_of(const ProfileEntry& entry) {
  if (entry.phase == Phase::step) return "(step)";
  return entry.path.empty() ? "(no module)" : without_numbers(entry.path);
}

// Sums of entries with one key, the longest first.
std::vector<std::pair<std::string, ProfileEntry>> grouped(
    const Profile& profile, const std::function<std::string(const ProfileEntry&)>& key) {
  std::map<std::string, ProfileEntry> sums;
  for (const ProfileEntry& entry : profile.entries()) {
    auto& sum = sums[key(entry)];
    sum.phase = entry.phase;
    sum.op = entry.op;
    sum.add(entry);
  }
  std::vector<std::pair<std::string, ProfileEntry>> result(sums.begin(), sums.end());
  std::stable_sort(result.begin(), result.end(),
                   [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  return result;
}

std::string per_second(double amount, double seconds) {
  return amount > 0 && seconds > 0 ? fmt::format("{:.1f}", amount / seconds / 1e9) : "";
}

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f}%", 100 * part / whole) : "";
}

// Time, work and speed of a group. Bytes count where no product does.
std::string line(const ProfileEntry& sum, const Profile& profile, const std::string& name) {
  const auto steps = static_cast<double>(profile.steps());
  const double bytes = sum.products == 0 ? sum.bytes_read + sum.bytes_written : 0;
  return fmt::format("{:>6} {:>9.3f} {:>7.1f} {:>8} {:>7} {:>7} {:>6}  {}\n",
                     percent(sum.seconds, profile.seconds()), 1e3 * sum.seconds / steps,
                     static_cast<double>(sum.calls) / steps, per_second(sum.flop, sum.product_seconds),
                     per_second(bytes, sum.seconds), percent(sum.busy_seconds, sum.loop_seconds), sum.misses,
                     name);
}

constexpr const char* kHead = "  time   ms/step   calls  GFLOP/s    GB/s balance misses  ";

std::string groups(const Profile& profile, const char* title,
                   const std::function<std::string(const ProfileEntry&)>& key) {
  std::string text = fmt::format("{}{}\n", kHead, title);
  const auto sums = grouped(profile, key);
  for (std::size_t i = 0; i < std::min(sums.size(), kMostLines); ++i)
    text += line(sums[i].second, profile, sums[i].first);
  return text;
}

// Products that differ in the number of tokens alone: of all of them but the gradients of weights, the rows;
// of those, the sum's length.
struct ProductGroup {
  Index least = 0, most = 0;  // tokens
  double calls = 0, seconds = 0, flop = 0, least_seconds = 0;
};

std::string matrices(const ProfiledProduct& product) {
  const std::string rows = product.a_transposed ? std::to_string(product.rows) : "N";
  const std::string depth = product.a_transposed ? "N" : std::to_string(product.depth);
  return fmt::format("{}{} [{}, {}] x {}[{}, {}] -> {}", to_string(product.type),
                     product.a_transposed ? " transposed" : "", rows, depth,
                     product.b_transposed ? "transposed " : "", depth, product.columns,
                     to_string(product.result_type));
}

std::vector<std::pair<std::string, ProductGroup>> product_groups(const Profile& profile,
                                                                 const std::vector<double>& rooflines) {
  std::map<std::string, ProductGroup> sums;
  for (std::size_t i = 0; i < profile.products().size(); ++i) {
    const ProfiledProduct& product = profile.products()[i];
    const Index tokens = product.a_transposed ? product.depth : product.rows;
    ProductGroup& sum = sums[matrices(product)];
    sum.least = sum.calls > 0 ? std::min(sum.least, tokens) : tokens;
    sum.most = std::max(sum.most, tokens);
    const auto calls = static_cast<double>(product.calls);
    sum.calls += calls;
    sum.seconds += product.seconds;
    sum.flop += calls * product.flop();
    if (!rooflines.empty()) sum.least_seconds += calls * rooflines[i];
  }
  std::vector<std::pair<std::string, ProductGroup>> result(sums.begin(), sums.end());
  std::stable_sort(result.begin(), result.end(),
                   [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  return result;
}

std::string products(const Profile& profile, const std::vector<double>& rooflines) {
  const auto steps = static_cast<double>(profile.steps());
  std::string text = "  time   ms/step   calls  GFLOP/s  roofline  products by shape\n";
  const auto all = product_groups(profile, rooflines);
  for (std::size_t i = 0; i < std::min(all.size(), kMostLines); ++i) {
    const auto& [name, sum] = all[i];
    const std::string tokens =
        sum.least == sum.most ? fmt::format("{}", sum.most) : fmt::format("{} to {}", sum.least, sum.most);
    text += fmt::format("{:>6} {:>9.3f} {:>7.1f} {:>8} {:>9}  {}, N = {}\n",
                        percent(sum.seconds, profile.seconds()), 1e3 * sum.seconds / steps, sum.calls / steps,
                        per_second(sum.flop, sum.seconds),
                        sum.least_seconds > 0 ? percent(sum.least_seconds, sum.seconds) : "", name, tokens);
  }
  return text;
}

std::vector<std::pair<std::string, double>> owners(const Profile& profile, const StandingMemory& standing) {
  const double named = standing.weights + standing.working_copies + standing.gradients;
  std::vector<std::pair<std::string, double>> all{{"weights", standing.weights},
                                                  {"gradients", standing.gradients},
                                                  {"working copies of weights", standing.working_copies},
                                                  {"moments and the rest", profile.before_bytes() - named}};
  for (const auto& [name, sum] : grouped(profile, [](const ProfileEntry& entry) {
         return fmt::format("{} in {} of {}", entry.op, to_string(entry.phase), module_of(entry));
       }))
    all.emplace_back(name, sum.held_bytes);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  while (!all.empty() && all.back().second <= 0) all.pop_back();
  return all;
}

std::string memory(const Profile& profile, const StandingMemory& standing) {
  const double peak = profile.before_bytes() + profile.peak_bytes();
  std::string text = fmt::format("{:>9} MB  at the peak of the tensors' memory, held by\n",
                                 fmt::format("{:.1f}", peak / 1e6));
  const auto all = owners(profile, standing);
  for (std::size_t i = 0; i < std::min(all.size(), kMostLines); ++i)
    text += fmt::format("{:>9.1f} MB {:>6}  {}\n", all[i].second / 1e6, percent(all[i].second, peak),
                        all[i].first);
  return text;
}

ProfileEntry total_of(const Profile& profile) {
  ProfileEntry total;
  for (const ProfileEntry& entry : profile.entries()) total.add(entry);
  return total;
}

// Share of the places in padded tensors that hold no token.
double padding_share(const Profile& profile) {
  double tokens = 0, places = 0;
  for (const ProfileEntry& entry : profile.entries())
    if (entry.phase == Phase::forward && entry.op == "pad") {
      tokens += entry.bytes_read;
      places += entry.bytes_written;
    }
  return places > 0 ? 1 - tokens / places : 0;
}

std::string summary(const Profile& profile) {
  const ProfileEntry total = total_of(profile);
  const auto steps = static_cast<double>(profile.steps());
  const double loops = total.loop_seconds / thread_count();
  return fmt::format(
      "profile of {} steps of {:.3f} ms on {} threads\n"
      "products: {} of the time, {:.3f} GFLOP a step at {} GFLOP/s\n"
      "parallel loops: {} of the time, threads at work {} of it\n"
      "allocations that asked the system: {}\n"
      "padding: {} of the places in padded tensors; none elsewhere\n",
      profile.steps(), 1e3 * profile.seconds() / steps, thread_count(),
      percent(total.product_seconds, profile.seconds()), total.flop / steps / 1e9,
      per_second(total.flop, total.product_seconds), percent(loops, profile.seconds()),
      percent(total.busy_seconds, total.loop_seconds), total.misses, percent(padding_share(profile), 1));
}

}  // namespace

StandingMemory standing_memory(const ParameterSet& parameters) {
  const auto bytes = [](const Tensor& arena) {
    return arena ? static_cast<double>(arena.count() * size_of(arena.type())) : 0;
  };
  return {bytes(parameters.values()), bytes(parameters.working()), bytes(parameters.gradients())};
}

std::vector<double> product_rooflines(const Profile& profile, double seconds_a_way) {
  std::vector<double> seconds;
  for (const ProfiledProduct& p : profile.products()) {
    const bool library = p.type != DType::f64 && p.rows > 0 && p.columns > 0 && p.depth > 0;
    const bool weight = p.b_transposed || !p.a_transposed;
    seconds.push_back(library ? kernels::fastest_product({p.rows, p.columns, p.depth, p.a_transposed,
                                                          p.b_transposed, weight, p.type, p.result_type},
                                                         seconds_a_way)
                                    .seconds
                              : 0);
  }
  return seconds;
}

std::string profile_table(const Profile& profile, const StandingMemory& standing,
                          const std::vector<double>& rooflines) {
  if (profile.steps() == 0) return "profile: no step was measured\n";
  return summary(profile) + "\n" +
         groups(profile, "op",
                [](const ProfileEntry& entry) { return to_string(entry.phase) + " " + entry.op; }) +
         "\n" +
         groups(profile, "module",
                [](const ProfileEntry& entry) { return module_of(entry) + " " + to_string(entry.phase); }) +
         "\n" + products(profile, rooflines) + "\n" + memory(profile, standing);
}

}  // namespace attnlab
