#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "study/results.h"

namespace attnlab {
namespace {

using Json = nlohmann::ordered_json;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Json json_of(const RunResult& run) {
  Json json{{"seed", run.seed}, {"status", run.status}, {"folder", run.folder}, {"code", run.code}};
  if (!run.error.empty()) json["error"] = run.error;
  if (run.stale) json["stale"] = true;
  if (!run.precision.empty()) json["precision"] = run.precision;
  if (!run.cpu.empty()) json["cpu"] = run.cpu;
  if (!run.content.empty()) json["content"] = run.content;
  json["values"] = Json::parse(to_json_line(run.values));
  return json;
}

Json json_of(const ArmResult& arm, const StudyResults& results) {
  Json json{{"name", arm.name}, {"note", arm.note}, {"baseline", arm.baseline}, {"control", arm.control}};
  json["published"] = arm.published ? Json(*arm.published) : Json();
  json["point"] = Json::object();
  for (const auto& [key, value] : arm.point) json["point"][key] = value;
  json["parameters"] = arm.parameters;
  if (arm.rate)
    json["rate"] = {{"rates", arm.rate->rates},
                    {"scores", arm.rate->scores},
                    {"chosen", arm.rate->chosen},
                    {"at_edge", arm.rate->at_edge},
                    {"basin_share", arm.rate->basin_share},
                    {"seeds", arm.rate->seeds},
                    {"chosen_by", arm.rate->chosen_by}};
  const Summary summary = summary_of(arm, results.metric);
  json["summary"] = {{"n", summary.n}, {"mean", summary.mean}, {"sd", summary.sd}, {"sem", summary.sem}};
  const ArmResult* base = results.find(arm.baseline);
  if (base != nullptr && base != &arm) {
    const Comparison paired = compare(arm, *base, results.metric);
    json["difference"] = {{"n", paired.differences.size()},
                          {"mean", paired.mean},
                          {"sd", paired.sd},
                          {"sem", paired.sem},
                          {"p", paired.t_test}};
  }
  json["runs"] = Json::array();
  for (const RunResult& run : arm.runs) json["runs"].push_back(json_of(run));
  return json;
}

Json json_of(const ClaimVerdict& verdict) {
  Json json{{"claim", verdict.claim},
            {"note", verdict.note},
            {"kind", verdict.kind},
            {"metric", verdict.metric},
            {"verdict", to_string(verdict.decision)},
            {"figures", verdict.figures},
            {"p", verdict.p_value},
            {"p_holm", std::isnan(verdict.p_value) ? verdict.p_value : verdict.corrected_p},
            {"alpha", verdict.alpha},
            {"seeds", verdict.seeds},
            {"hash", verdict.hash},
            {"set", verdict.set}};
  return json;
}

double number_of(const Json& json) { return json.is_null() ? kNan : json.get<double>(); }

ClaimVerdict verdict_of(const Json& json) {
  ClaimVerdict verdict;
  verdict.claim = json.at("claim").get<std::string>();
  verdict.note = json.value("note", "");
  verdict.kind = json.value("kind", "");
  verdict.metric = json.value("metric", "");
  const std::string text = json.at("verdict").get<std::string>();
  for (const Decision decision : {Decision::reproduced, Decision::not_reproduced})
    if (text == to_string(decision)) verdict.decision = decision;
  verdict.figures = json.value("figures", "");
  verdict.p_value = number_of(json.at("p"));
  verdict.corrected_p = number_of(json.at("p_holm"));
  verdict.alpha = json.value("alpha", 0.05);
  verdict.seeds = json.value("seeds", Index{0});
  verdict.hash = json.value("hash", "");
  verdict.set = json.value("set", "");
  return verdict;
}

std::vector<double> numbers_of(const Json& json) {
  std::vector<double> result;
  for (const Json& item : json) result.push_back(item.is_null() ? kNan : item.get<double>());
  return result;
}

RunResult run_of(const Json& json, const std::string& where) {
  RunResult run;
  run.seed = json.at("seed").get<std::int64_t>();
  run.status = json.at("status").get<std::string>();
  run.folder = json.value("folder", "");
  run.code = json.value("code", "");
  run.error = json.value("error", "");
  run.stale = json.value("stale", false);
  run.precision = json.value("precision", "");
  run.cpu = json.value("cpu", "");
  run.content = json.value("content", "");
  run.values = parse_record(json.at("values").dump(), where);
  return run;
}

ArmResult arm_of(const Json& json, const std::string& where) {
  ArmResult arm;
  arm.name = json.at("name").get<std::string>();
  arm.note = json.value("note", "");
  arm.baseline = json.value("baseline", "");
  arm.control = json.value("control", false);
  if (!json.at("published").is_null()) arm.published = json.at("published").get<double>();
  for (const auto& [key, value] : json.at("point").items())
    arm.point.emplace_back(key, value.get<std::string>());
  arm.parameters = json.value("parameters", std::int64_t{0});
  if (json.contains("rate")) {
    const Json& rate = json.at("rate");
    arm.rate = {numbers_of(rate.at("rates")),         numbers_of(rate.at("scores")),
                rate.at("chosen").get<double>(),      rate.at("at_edge").get<bool>(),
                rate.at("basin_share").get<double>(), rate.value("seeds", std::vector<std::int64_t>{}),
                rate.value("chosen_by", "")};
  }
  for (const Json& run : json.at("runs")) arm.runs.push_back(run_of(run, where));
  return arm;
}

}  // namespace

std::string results_json(const StudyResults& results) {
  Json json{{"study", results.name},    {"question", results.question}, {"source", results.source},
            {"metric", results.metric}, {"columns", results.columns},   {"baseline", results.baseline},
            {"quick", results.quick},   {"seeds", results.seeds}};
  json["arms"] = Json::array();
  for (const ArmResult& arm : results.arms) json["arms"].push_back(json_of(arm, results));
  json["environment"] = Json::parse(to_json_line(results.environment));
  json["expectations_hash"] = results.expectations_hash;
  json["verdicts"] = Json::array();
  for (const ClaimVerdict& verdict : results.verdicts) json["verdicts"].push_back(json_of(verdict));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

StudyResults parse_results(const std::string& text, const std::string& where) {
  try {
    const Json json = Json::parse(text);
    StudyResults results;
    results.name = json.at("study").get<std::string>();
    results.question = json.value("question", "");
    results.source = json.value("source", "");
    results.metric = json.at("metric").get<std::string>();
    results.columns = json.at("columns").get<std::vector<std::string>>();
    results.baseline = json.at("baseline").get<std::string>();
    results.quick = json.value("quick", false);
    results.seeds = json.at("seeds").get<std::vector<std::int64_t>>();
    for (const Json& arm : json.at("arms")) results.arms.push_back(arm_of(arm, where));
    results.expectations_hash = json.value("expectations_hash", "");
    if (json.contains("environment"))
      results.environment = parse_record(json.at("environment").dump(), where);
    if (json.contains("verdicts"))
      for (const Json& verdict : json.at("verdicts")) results.verdicts.push_back(verdict_of(verdict));
    return results;
  } catch (const nlohmann::json::exception& error) {
    throw IoError(where + ": no results of a study: " + error.what());
  }
}

}  // namespace attnlab
