#include "study/report_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

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
  std::string study;       // the title of its study where there are several

  std::string full_name() const { return study.empty() ? name : study + ": " + name; }
};

struct ReportedStudy {
  fs::path file;
  StudyResults results;
  Json json;  // the same as it was read
  std::string title;
  std::vector<ReportedRun> arms;  // one run of each that has any, the baseline's first
};

// From the root, without "." and a slash at the end.
fs::path full_path(const fs::path& path) {
  const fs::path full = fs::absolute(path).lexically_normal();
  return full.has_filename() ? full : full.parent_path();
}

// The folder of a study of which this is the results.json; empty where it lies elsewhere.
fs::path study_folder(const fs::path& file) {
  const fs::path papers = full_path(file).parent_path();
  return papers.filename() == "study" ? papers.parent_path() : fs::path();
}

// Folders of runs are noted as they were seen from where the study was run, "runs/STUDY/ARM/seed-N": from
// elsewhere, that is no folder or that of other runs.
void find_run_folders(const fs::path& study, StudyResults& results) {
  if (study.empty()) return;
  for (ArmResult& arm : results.arms) {
    for (RunResult& run : arm.runs) {
      if (run.folder.empty()) continue;
      const fs::path noted = run.folder, here = study / arm.name / noted.filename();
      if (noted.is_relative() || fs::exists(here)) run.folder = here.string();
    }
  }
}

// Names that are equal get folders in front, as many as it takes to tell them apart; `folders` are those that
// what they name lies in.
std::vector<std::string> distinct_names(std::vector<std::string> names, std::vector<fs::path> folders) {
  for (bool longer = true; longer;) {
    longer = false;
    std::map<std::string, int> uses;
    for (const std::string& name : names) ++uses[name];
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (uses[names[i]] == 1 || !folders[i].has_filename()) continue;
      names[i] = folders[i].filename().string() + "/" + names[i];
      folders[i] = folders[i].parent_path();
      longer = true;
    }
  }
  return names;
}

class Gathering {
 public:
  Gathering(const ReportRequest& request, fs::path folder) : request_(request), folder_(std::move(folder)) {}

  void run() {
    for (const fs::path& input : request_.inputs) classify(input);
    if (runs_.empty() && studies_.empty()) {
      std::string text = "error: there is nothing to report on";
      for (const auto& problem : json_["problems"]) text += "\nerror: " + problem.get<std::string>();
      throw ConfigError(text);
    }
    name_apart();
    for (ReportedStudy& study : studies_) add_study(study);
    add_differences();
    if (studies_.empty() && runs_.size() == 2) add_comparison();
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
    const fs::path results = plain / "study" / "results.json", file = fs::exists(results) ? results : plain;
    if (!named_.insert(full_path(file)).second) return;
    if (fs::is_regular_file(file)) return read_study(file);
    const fs::path run = fs::exists(plain / "state.json") ? plain.parent_path().parent_path() : plain;
    if (!fs::exists(run / "config.yaml"))
      return problem(input.string() + ": neither a run nor a study: no config.yaml");
    const fs::path name = full_path(run).filename();
    runs_.push_back({run == plain ? name.string() : (name / plain.filename()).string(), run, plain, ""});
  }

  void read_study(const fs::path& file) {
    try {
      const std::string text = read_small_file(file);
      StudyResults results = parse_results(text, file.string());
      find_run_folders(study_folder(file), results);
      const std::string title = results.name + (results.quick ? "-quick" : "");
      studies_.push_back({file, std::move(results), Json::parse(text), title, {}});
    } catch (const Error& error) {
      problem(error.what());
    }
  }

  // Columns, colours, sections and files of figures go by names.
  void name_apart() {
    std::vector<std::string> names, titles;
    std::vector<fs::path> of_runs, of_studies;
    for (const ReportedRun& run : runs_) {
      names.push_back(run.name);
      of_runs.push_back(full_path(run.folder).parent_path());
    }
    for (const ReportedStudy& study : studies_) {
      const fs::path folder = study_folder(study.file);
      titles.push_back(study.title);
      of_studies.push_back((folder.empty() ? full_path(study.file) : folder).parent_path());
    }
    names = distinct_names(names, of_runs);
    titles = distinct_names(titles, of_studies);
    for (std::size_t i = 0; i < names.size(); ++i) runs_[i].name = names[i];
    for (std::size_t i = 0; i < titles.size(); ++i) studies_[i].title = titles[i];
  }

  void add_study(ReportedStudy& study) {
    Json runs = Json::array();
    Index noted = 0, gone = 0;  // finished runs with a folder; without it by now
    for (const ArmResult& arm : study.results.arms) {
      add_arm(arm, study, runs);
      for (const RunResult& run : arm.runs) {
        if (run.folder.empty() || !run.finished()) continue;
        ++noted;
        gone += is_there(run) ? 0 : 1;
      }
    }
    if (gone > 0)
      problem(
          fmt::format("{}: the folders of {} of {} finished runs are not there: no training curves, "
                      "configuration, environment or attention of them",
                      study.title, gone, noted));
    json_["studies"].push_back({{"file", fs::absolute(study.file).string()},
                                {"title", study.title},
                                {"results", std::move(study.json)},
                                {"runs", std::move(runs)},
                                {"intervals", intervals_of(study)}});
  }

  Json intervals_of(const ReportedStudy& study) {
    Json list = Json::array();
    try {
      for (const ScoreInterval& one : score_intervals(study.results, request_.assignments)) {
        Json entry{{"arm", one.arm},
                   {"score", {one.score.low, one.score.high}},
                   {"seeds", one.seeds},
                   {"sentences", one.sentences}};
        if (one.difference) entry["difference"] = {one.difference->low, one.difference->high};
        list.push_back(std::move(entry));
      }
    } catch (const ConfigError& error) {
      problem(study.title + ": no intervals over sentences: " + error.what());
    } catch (const Error& error) {
      problem(study.title + ": no intervals over sentences: " + error.what());
    }
    return list;
  }

  static bool is_there(const RunResult& run) {
    return !run.folder.empty() && fs::exists(fs::path(run.folder) / "config.yaml");
  }

  // The first run of every arm that is there stands for its configuration.
  void add_arm(const ArmResult& arm, ReportedStudy& study, Json& runs) {
    bool shown = false;
    std::map<std::string, std::vector<std::int64_t>> wrong;  // what happened, to which seeds
    for (const RunResult& run : arm.runs) {
      if (!run.finished())
        wrong[run.status + (run.error.empty() ? "" : ": " + run.error)].push_back(run.seed);
      if (!is_there(run)) continue;
      runs.push_back({{"arm", arm.name}, {"seed", run.seed}, {"folder", fs::absolute(run.folder).string()}});
      if (shown) continue;
      shown = true;
      ReportedRun first{arm.name, run.folder, run.folder, studies_.size() > 1 ? study.title : ""};
      study.arms.insert(arm.name == study.results.baseline ? study.arms.begin() : study.arms.end(), first);
    }
    for (const auto& [what, seeds] : wrong)
      problem(fmt::format("{}: {}, seed{} {}: {}", study.title, arm.name, seeds.size() > 1 ? "s" : "",
                          fmt::join(seeds, ", "), what));
  }

  std::unique_ptr<ExperimentSpec> spec_of(const ReportedRun& run) {
    try {
      auto spec = std::make_unique<ExperimentSpec>();
      read_spec(Tree::load({(run.folder / "config.yaml").string()}), *spec);
      return spec;
    } catch (const ConfigError& error) {
      problem(run.full_name() + ": its config.yaml cannot be read: " + error.what());
      return nullptr;
    }
  }

  void add_differences() {
    json_["differences"] = Json::array();
    for (const ReportedStudy& study : studies_) compare_with_first(study.arms);
    compare_with_first(runs_);
  }

  // Every configuration against the first: the baseline's in a study.
  void compare_with_first(const std::vector<ReportedRun>& runs) {
    std::unique_ptr<ExperimentSpec> first;
    std::string first_name;
    for (const ReportedRun& run : runs) {
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
      Json entry{{"run", run.name}, {"reference", first_name}, {"keys", keys}};
      if (!run.study.empty()) entry["study"] = run.study;
      json_["differences"].push_back(std::move(entry));
    }
  }

  void add_comparison() {
    const RunComparison comparison = compare_runs(runs_[0].folder, runs_[1].folder, request_.assignments);
    for (const std::string& text : comparison.problems) problem(text);
    for (const ReportedRun& run : runs_)
      if (!comparison.problems.empty() && !fs::exists(run.folder / "outputs"))
        problem(fmt::format("{0} has no outputs to compare; for them: attnlab eval {0} --outputs {0}/outputs",
                            run.folder.string()));
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

  // Baselines first, so that every study has a view if any has.
  std::vector<ReportedRun> viewed_runs() const {
    std::vector<ReportedRun> firsts, others;
    for (const ReportedStudy& study : studies_)
      for (const ReportedRun& run : study.arms)
        (&run == &study.arms.front() ? firsts : others).push_back(run);
    firsts.insert(firsts.end(), others.begin(), others.end());
    firsts.insert(firsts.end(), runs_.begin(), runs_.end());
    return firsts;
  }

  void add_views() {
    Index shown = 0;
    for (const ReportedRun& run : viewed_runs()) {
      if (shown == request_.views) break;
      if (!fs::exists(run.folder / "checkpoints")) {
        problem(run.full_name() + ": no checkpoint yet");
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
      json_["views"].push_back({{"run", run.full_name()}, {"weights", trained.weights}, {"folder", name}});
      return true;
    } catch (const ConfigError& error) {
      problem(run.full_name() + ": no attention to show: " + error.what());
    } catch (const Error& error) {
      problem(run.full_name() + ": no attention to show: " + error.what());
    }
    return false;
  }

  const ReportRequest& request_;
  fs::path folder_;
  std::set<fs::path> named_;  // what is named twice is shown once
  std::vector<ReportedStudy> studies_;
  std::vector<ReportedRun> runs_;  // that were named themselves
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
