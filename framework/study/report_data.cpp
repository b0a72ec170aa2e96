#include "study/report_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "config/error.h"
#include "config/spec.h"
#include "study/probe_files.h"
#include "study/report_compare.h"
#include "study/results.h"
#include "study/score_intervals.h"
#include "train/checkpoint_store.h"
#include "train/log.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// A run to report on, whether it stands alone or belongs to an arm of a study.
struct ReportedRun {
  std::string name;
  fs::path folder, shown;  // of the run; what was named, which may be a checkpoint in it
};

class Gathering {
 public:
  Gathering(const ReportRequest& request, fs::path folder) : request_(request), folder_(std::move(folder)) {}

  void run() {
    for (const fs::path& input : request_.inputs) classify(input);
    if (runs_.empty() && json_["studies"].empty()) {
      std::string text = "error: there is nothing to report on";
      for (const auto& problem : json_["problems"]) text += "\nerror: " + problem.get<std::string>();
      throw ConfigError(text);
    }
    add_differences();
    if (json_["studies"].empty() && runs_.size() == 2) add_comparison();
    for (const ReportedRun& run : runs_)
      json_["runs"].push_back({{"name", run.name}, {"folder", fs::absolute(run.folder).string()}});
    add_views();
    write_durably(folder_ / "report.json", json_.dump(1, ' ', false, Json::error_handler_t::replace));
  }

 private:
  void problem(const std::string& text) {
    log_warning(text);
    json_["problems"].push_back(text);
  }

  void classify(const fs::path& input) {
    const fs::path plain = input.has_filename() ? input : input.parent_path();
    if (!fs::exists(plain)) return problem(input.string() + ": there is no such run or study");
    if (fs::is_regular_file(plain)) return add_study(plain);
    if (fs::exists(plain / "study" / "results.json")) return add_study(plain / "study" / "results.json");
    const fs::path run = fs::exists(plain / "state.json") ? plain.parent_path().parent_path() : plain;
    if (!fs::exists(run / "config.yaml"))
      return problem(input.string() + ": neither a run nor a study: no config.yaml");
    runs_.push_back(
        {run == plain ? run.filename().string() : (run.filename() / plain.filename()).string(), run, plain});
  }

  void add_study(const fs::path& file) {
    try {
      const std::string text = read_small_file(file);
      const StudyResults results = parse_results(text, file.string());
      Json study{{"file", fs::absolute(file).string()}, {"results", Json::parse(text)}};
      study["runs"] = Json::array();
      for (const ArmResult& arm : results.arms) add_arm(arm, results, study["runs"]);
      study["intervals"] = intervals_of(results);
      json_["studies"].push_back(std::move(study));
    } catch (const Error& error) {
      problem(error.what());
    }
  }

  Json intervals_of(const StudyResults& results) {
    Json list = Json::array();
    try {
      for (const ScoreInterval& one : score_intervals(results, request_.assignments)) {
        Json entry{{"arm", one.arm},
                   {"score", {one.score.low, one.score.high}},
                   {"seeds", one.seeds},
                   {"sentences", one.sentences}};
        if (one.difference) entry["difference"] = {one.difference->low, one.difference->high};
        list.push_back(std::move(entry));
      }
    } catch (const ConfigError& error) {
      problem(results.name + ": no intervals over sentences: " + error.what());
    } catch (const Error& error) {
      problem(results.name + ": no intervals over sentences: " + error.what());
    }
    return list;
  }

  // The first run of every arm that is there stands for its configuration.
  void add_arm(const ArmResult& arm, const StudyResults& results, Json& runs) {
    bool shown = false;
    std::map<std::string, std::vector<std::int64_t>> wrong;  // what happened, to which seeds
    for (const RunResult& run : arm.runs) {
      const bool there = !run.folder.empty() && fs::exists(fs::path(run.folder) / "config.yaml");
      if (run.status != "done" && run.status != "early_stopped")
        wrong[run.status + (run.error.empty() ? "" : ": " + run.error)].push_back(run.seed);
      if (!there) continue;
      runs.push_back({{"arm", arm.name}, {"seed", run.seed}, {"folder", fs::absolute(run.folder).string()}});
      if (shown) continue;
      shown = true;
      ReportedRun first{arm.name, run.folder, run.folder};
      if (arm.name == results.baseline)
        arms_.insert(arms_.begin(), first);
      else
        arms_.push_back(first);
    }
    for (const auto& [what, seeds] : wrong)
      problem(fmt::format("{}: {}, seed{} {}: {}", results.name, arm.name, seeds.size() > 1 ? "s" : "",
                          fmt::join(seeds, ", "), what));
  }

  std::unique_ptr<ExperimentSpec> spec_of(const ReportedRun& run) {
    try {
      auto spec = std::make_unique<ExperimentSpec>();
      read_spec(Tree::load({(run.folder / "config.yaml").string()}), *spec);
      return spec;
    } catch (const ConfigError& error) {
      problem(run.name + ": its config.yaml cannot be read: " + error.what());
      return nullptr;
    }
  }

  // Every configuration against the first: the baseline's in a study.
  void add_differences() {
    json_["differences"] = Json::array();
    std::vector<ReportedRun> all = arms_;
    all.insert(all.end(), runs_.begin(), runs_.end());
    std::unique_ptr<ExperimentSpec> first;
    std::string first_name;
    for (const ReportedRun& run : all) {
      auto spec = spec_of(run);
      if (!spec) continue;
      if (!first) {
        first = std::move(spec);
        first_name = run.name;
        continue;
      }
      Json keys = Json::array();
      for (const SpecDifference& one : diff(*first, *spec))
        if (one.path != "name") keys.push_back({one.path, one.a, one.b});
      json_["differences"].push_back({{"run", run.name}, {"reference", first_name}, {"keys", keys}});
    }
  }

  void add_comparison() {
    const RunComparison comparison = compare_runs(runs_[0].folder, runs_[1].folder, request_.assignments);
    for (const std::string& text : comparison.problems) problem(text);
    Json scores = Json::array();
    for (const ScorePair& one : comparison.scores)
      scores.push_back({{"test", one.test},
                        {"metric", one.metric},
                        {"a", one.a},
                        {"b", one.b},
                        {"a_interval", one.a_interval},
                        {"b_interval", one.b_interval},
                        {"p", one.p_value},
                        {"signature", one.signature}});
    json_["comparison"] = {{"a", runs_[0].name}, {"b", runs_[1].name}, {"scores", scores}};
  }

  void add_views() {
    std::vector<ReportedRun> all = arms_;
    all.insert(all.end(), runs_.begin(), runs_.end());
    Index shown = 0;
    for (const ReportedRun& run : all) {
      if (shown == request_.views) break;
      if (!fs::exists(run.folder / "checkpoints")) {
        problem(run.name + ": no checkpoint yet");
        continue;
      }
      std::vector<fs::path> weights{run.shown};
      if (request_.every_checkpoint && run.shown == run.folder)
        for (const fs::path& checkpoint : checkpoints_in(run.folder / "checkpoints"))
          weights.push_back(checkpoint);
      bool some = false;
      for (const fs::path& path : weights) some = add_view(run, path) || some;
      shown += some ? 1 : 0;
    }
  }

  bool add_view(const ReportedRun& run, const fs::path& weights) {
    try {
      TrainedModel trained = load_for_probing(weights, DType::f32, request_.assignments);
      ProbeSubject subject = subject_of(trained);
      choose_sentences(trained, {request_.text, "valid", request_.sentences}, subject);
      const auto probe = make_probe("attention_maps", {"sentences=" + std::to_string(request_.sentences)});
      const std::string name = "view_" + std::to_string(views_++);
      write_probe(folder_ / name, "attention_maps", run_probe(*probe, subject), {});
      json_["views"].push_back({{"run", run.name}, {"weights", trained.weights}, {"folder", name}});
      return true;
    } catch (const ConfigError& error) {
      problem(run.name + ": no attention to show: " + error.what());
    } catch (const Error& error) {
      problem(run.name + ": no attention to show: " + error.what());
    }
    return false;
  }

  const ReportRequest& request_;
  fs::path folder_;
  std::vector<ReportedRun> runs_, arms_;  // named themselves; of studies, baselines first
  Index views_ = 0;
  Json json_{{"problems", Json::array()},
             {"studies", Json::array()},
             {"runs", Json::array()},
             {"views", Json::array()}};
};

}  // namespace

void gather_report(const ReportRequest& request, const fs::path& folder) {
  fs::create_directories(folder);
  Gathering(request, folder).run();
}

}  // namespace attnlab
