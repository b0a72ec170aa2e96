#include "study/record_results.h"

#include <algorithm>

#include "core/error.h"
#include "train/durable_file.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

// Only what others can use: numbers, no folders of this machine.
StudyResults for_keeping(const StudyResults& results) {
  StudyResults kept = results;
  for (ArmResult& arm : kept.arms) {
    for (RunResult& run : arm.runs) {
      run.folder.clear();
      Record numbers;
      for (const auto& [name, value] : run.values.fields())
        if (!std::holds_alternative<std::string>(value)) numbers.set(name, value);
      run.values = numbers;
    }
  }
  return kept;
}

// How much an arm holds.
struct Amount {
  Index runs = 0, numbers = 0;
};
Amount amount_of(const ArmResult& arm) {
  Amount amount;
  for (const RunResult& run : arm.runs) {
    if (!run.finished()) continue;
    ++amount.runs;
    amount.numbers += std::ssize(run.values.fields());
  }
  return amount;
}
Index runs_of(const StudyResults& results) {
  Index runs = 0;
  for (const ArmResult& arm : results.arms) runs += amount_of(arm).runs;
  return runs;
}

// Whether each arm holds no less.
bool holds_no_less(const StudyResults& made, const StudyResults& kept) {
  return std::all_of(kept.arms.begin(), kept.arms.end(), [&made](const ArmResult& arm) {
    const ArmResult* same = made.find(arm.name);
    const Amount now = same ? amount_of(*same) : Amount{}, before = amount_of(arm);
    return now.runs >= before.runs && now.numbers >= before.numbers;
  });
}

}  // namespace

bool worth_keeping(const StudyResults& made, StudyEnd end, const StudyResults& kept) {
  const Index runs = runs_of(made);
  if (runs == 0 || end == StudyEnd::complete) return runs > 0;
  if (end == StudyEnd::interrupted && runs == runs_of(kept)) return false;
  return holds_no_less(made, kept);
}

fs::path experiment_folder(const fs::path& experiments, const fs::path& given) {
  const fs::path file = fs::weakly_canonical(given);
  const std::string parent = file.parent_path().filename().string();
  return experiments / (parent.empty() || parent == "configs" ? file.stem().string() : parent);
}

fs::path kept_record(const fs::path& folder, const std::string& name) {
  return folder / "results" / (name + ".expectations.json");
}

std::string with_results(const std::string& text, const std::string& name, const std::string& content) {
  const std::string begin = "<!-- results " + name + " -->\n", end = "<!-- end of results " + name + " -->\n";
  const std::size_t from = text.find(begin);
  const std::size_t to = from == std::string::npos ? from : text.find(end, from);
  if (to == std::string::npos) {
    const std::string gap = text.empty() || text.ends_with("\n\n") ? ""
                            : text.ends_with('\n')                 ? "\n"
                                                                   : "\n\n";
    return text + gap + begin + content + end;
  }
  return text.substr(0, from) + begin + content + text.substr(to);
}

StudyResults kept_results(const fs::path& folder, const std::string& name) {
  const fs::path file = folder / "results" / (name + ".json");
  return fs::exists(file) ? parse_results(read_small_file(file), file.string()) : StudyResults();
}

void record_results(const StudyResults& results, const fs::path& folder, const fs::path& file) {
  std::error_code error;
  fs::create_directories(folder / "results", error);
  if (error) throw IoError("cannot create folder " + (folder / "results").string() + ": " + error.message());
  const std::string name = results.name + (results.quick ? "-quick" : "");
  write_durably(folder / "results" / (name + ".json"), results_json(for_keeping(results)));
  const fs::path readme = folder / "README.md";
  std::string text = fs::exists(readme) ? read_small_file(readme) : "# " + folder.filename().string() + "\n";
  if (text.find("<!-- results " + name + " -->") == std::string::npos)
    text += "\n## " + name + "\n\n" + (results.question.empty() ? "" : results.question + "\n\n") +
            "```sh\nattnlab run " + file.generic_string() + (results.quick ? " --quick" : "") + "\n```\n";
  write_durably(readme, with_results(text, name, results_markdown(results)));
}

}  // namespace attnlab
