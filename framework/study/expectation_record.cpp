#include "study/expectation_record.h"

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "config/departures.h"
#include "core/error.h"
#include "data/sha256.h"
#include "study/identity.h"
#include "train/durable_file.h"

namespace attnlab {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

// Claims are told apart by what differs from the defaults of their kind, so that a new key leaves them what
// they are. Whoever changes the default of a key counts this up (tests/system/defaults_test.py).
constexpr const char* kDefaults = "claims 1";

constexpr const char* kBefore = "before the run";
constexpr const char* kBeforeThese = "before these runs, after others of the same arms";
constexpr const char* kAfter = "after seeing";

}  // namespace

ExpectationRecord::ExpectationRecord(std::vector<fs::path> files, std::size_t written)
    : files_(std::move(files)) {
  for (const fs::path& file : files_)
    if (fs::exists(file)) read(file);
  files_.resize(written);
}

void ExpectationRecord::read(const fs::path& file) {
  try {
    const Json json = Json::parse(read_small_file(file));
    for (const Json& item : json.at("claims")) {
      Entry entry{item.at("claim").get<std::string>(),
                  item.at("hash").get<std::string>(),
                  item.value("rule", ""),
                  item.at("set").get<std::string>(),
                  item.value("first_seen", std::int64_t{0}),
                  item.value("rule_changed", false)};
      const auto known = std::find_if(claims_.begin(), claims_.end(),
                                      [&entry](const Entry& other) { return other.hash == entry.hash; });
      if (known == claims_.end()) {
        claims_.push_back(std::move(entry));
        continue;
      }
      entry.rule_changed |= known->rule_changed;
      if (entry.first_seen < known->first_seen) *known = std::move(entry);
    }
    for (const Json& item : json.at("results_seen"))
      add({item.at("arm").get<std::string>(), item.at("seed").get<std::int64_t>(),
           item.at("run").get<std::string>(), item.value("first_seen", std::int64_t{0})});
  } catch (const nlohmann::json::exception& error) {
    throw IoError(file.string() + ": no record of expectations: " + error.what());
  }
}

void ExpectationRecord::saw(const std::string& arm, std::int64_t seed, const std::string& run) {
  add({arm, seed, run.substr(0, 16), static_cast<std::int64_t>(std::time(nullptr))});
}

void ExpectationRecord::add(const Result& result) {
  for (Result& known : results_)
    if (known.arm == result.arm && known.seed == result.seed && known.run == result.run) {
      known.first_seen = std::min(known.first_seen, result.first_seen);
      return;
    }
  results_.push_back(result);
}

bool ExpectationRecord::any_seen(const Claim& claim, const std::function<bool(const Result&)>& which) const {
  const auto arms = claim.spec->arms();
  return std::any_of(results_.begin(), results_.end(), [&](const Result& result) {
    return std::find(arms.begin(), arms.end(), result.arm) != arms.end() && which(result);
  });
}

void ExpectationRecord::note(const std::vector<Claim>& claims,
                             const std::function<bool(const std::string&, const std::string&)>& planned) {
  for (const Claim& claim : claims) {
    const bool any = any_seen(claim, [](const Result&) { return true; });
    const bool same = any_seen(claim, [&planned](const Result& result) {
      return result.run.empty() || planned(result.arm, result.run);
    });
    const auto known = std::find_if(claims_.begin(), claims_.end(),
                                    [&claim](const Entry& entry) { return entry.hash == claim.hash; });
    if (known == claims_.end()) {
      claims_.push_back({claim.name, claim.hash, rule_digest(),
                         same  ? kAfter
                         : any ? kBeforeThese
                               : kBefore,
                         static_cast<std::int64_t>(std::time(nullptr)), false});
    } else if (known->rule != rule_digest()) {
      known->rule = rule_digest();
      known->rule_changed |= any;
    }
  }
}

void ExpectationRecord::write() const {
  Json json{{"claims", Json::array()}, {"results_seen", Json::array()}};
  for (const Entry& entry : claims_) {
    json["claims"].push_back({{"claim", entry.claim},
                              {"hash", entry.hash},
                              {"rule", entry.rule},
                              {"first_seen", entry.first_seen},
                              {"set", entry.set}});
    if (entry.rule_changed) json["claims"].back()["rule_changed"] = true;
  }
  for (const Result& result : results_)
    json["results_seen"].push_back(
        {{"arm", result.arm}, {"seed", result.seed}, {"run", result.run}, {"first_seen", result.first_seen}});
  for (const fs::path& file : files_) {
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    write_durably(file, json.dump(1) + "\n");
  }
}

std::string ExpectationRecord::set(const std::string& hash) const {
  for (const Entry& entry : claims_)
    if (entry.hash == hash) return entry.set + (entry.rule_changed ? kJudgingChanged : "");
  return kAfter;
}

std::string hash_of(const Claim& claim, const std::string& metric, const std::string& baseline) {
  const std::string kind = Registry<ExpectationSpec>::name_of(*claim.spec);
  const auto standard = Registry<ExpectationSpec>::make(kind);
  const std::string own = write_departures([&standard](Fields& f) { standard->fields(f); },
                                           [&claim](Fields& f) { claim.spec->fields(f); });
  Sha256 hash;
  for (const std::string& text : {std::string(kDefaults), claim.name, kind, own, metric, baseline})
    hash.add_field(text);
  return hash.hex();
}

std::string hash_of_all(const std::vector<Claim>& claims) {
  Sha256 hash;
  for (const Claim& claim : claims) hash.add_field(claim.hash);
  return hash.hex();
}

}  // namespace attnlab
