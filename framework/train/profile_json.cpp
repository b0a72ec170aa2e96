// The reports of a profile that programs read.
#include <nlohmann/json.hpp>

#include "train/profile_report.h"

namespace attnlab {
namespace {

using Json = nlohmann::ordered_json;

Json entry_json(const ProfileEntry& entry) {
  return {{"phase", to_string(entry.phase)},
          {"op", entry.op},
          {"module", entry.path},
          {"calls", entry.calls},
          {"seconds", entry.seconds},
          {"bytes_read", entry.bytes_read},
          {"bytes_written", entry.bytes_written},
          {"products", entry.products},
          {"flop", entry.flop},
          {"product_seconds", entry.product_seconds},
          {"busy_seconds", entry.busy_seconds},
          {"loop_seconds", entry.loop_seconds},
          {"pool_misses", entry.misses},
          {"bytes_at_peak", entry.held_bytes}};
}

Json product_json(const ProfiledProduct& product, double roofline) {
  Json json{{"rows", product.rows},
            {"columns", product.columns},
            {"depth", product.depth},
            {"a_transposed", product.a_transposed},
            {"b_transposed", product.b_transposed},
            {"type", to_string(product.type)},
            {"result_type", to_string(product.result_type)},
            {"calls", product.calls},
            {"seconds", product.seconds},
            {"flop", product.flop() * static_cast<double>(product.calls)}};
  if (roofline > 0) json["roofline_seconds"] = roofline * static_cast<double>(product.calls);
  return json;
}

std::string product_name(const ProfiledProduct& product) {
  return "product " + std::to_string(product.rows) + " x " + std::to_string(product.columns) + " x " +
         std::to_string(product.depth);
}

}  // namespace

std::string profile_json(const Profile& profile, const StandingMemory& standing,
                         const std::vector<double>& rooflines) {
  Json json{{"steps", profile.steps()},
            {"seconds", profile.seconds()},
            {"memory",
             {{"weights", standing.weights},
              {"working_copies", standing.working_copies},
              {"gradients", standing.gradients},
              {"before_step", profile.before_bytes()},
              {"in_step", profile.peak_bytes()}}}};
  for (const ProfileEntry& entry : profile.entries()) json["ops"].push_back(entry_json(entry));
  for (std::size_t i = 0; i < profile.products().size(); ++i)
    json["products"].push_back(product_json(profile.products()[i], rooflines.empty() ? 0 : rooflines[i]));
  return json.dump(1) + "\n";
}

std::string profile_trace(const Profile& profile) {
  Json events = Json::array();
  for (const ProfileSlice& slice : profile.slices()) {
    const ProfileEntry& entry = profile.entries()[slice.entry];
    const bool inner = slice.product >= 0;
    events.push_back(
        {{"ph", "X"},
         {"pid", 1},
         {"tid", 1},
         {"ts", slice.start * 1e6},
         {"dur", slice.seconds * 1e6},
         {"cat", inner ? "product" : to_string(entry.phase)},
         {"name",
          inner ? product_name(profile.products()[static_cast<std::size_t>(slice.product)]) : entry.op},
         {"args", {{"module", entry.path}, {"phase", to_string(entry.phase)}}}});
  }
  return Json{{"traceEvents", events}, {"displayTimeUnit", "ms"}}.dump() + "\n";
}

}  // namespace attnlab
