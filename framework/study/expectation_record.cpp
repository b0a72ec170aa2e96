#include "study/expectation_record.h"

#include <ctime>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "data/sha256.h"
#include "train/durable_file.h"

namespace attnlab {

void ExpectationRecord::note(const std::vector<Claim>& claims,
                             const std::function<bool(const Claim&)>& too_late) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  try {
    if (std::filesystem::exists(file_)) list = nlohmann::ordered_json::parse(read_small_file(file_));
    for (const auto& entry : list)
      set_before_[entry.at("hash").get<std::string>()] = entry.at("set_before").get<bool>();
  } catch (const nlohmann::json::exception& error) {
    throw IoError(file_.string() + ": no record of expectations: " + error.what());
  }
  for (const Claim& claim : claims) {
    if (set_before_.count(claim.hash) != 0) continue;
    const bool before = !too_late(claim);
    set_before_[claim.hash] = before;
    list.push_back({{"claim", claim.name},
                    {"hash", claim.hash},
                    {"first_seen", static_cast<std::int64_t>(std::time(nullptr))},
                    {"set_before", before}});
  }
  write_durably(file_, list.dump(1) + "\n");
}

bool ExpectationRecord::set_before(const std::string& hash) const {
  const auto found = set_before_.find(hash);
  return found != set_before_.end() && found->second;
}

std::string hash_of_all(const std::vector<Claim>& claims) {
  Sha256 hash;
  for (const Claim& claim : claims) hash.add_field(claim.hash);
  return hash.hex();
}

}  // namespace attnlab
