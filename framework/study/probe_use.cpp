#include "study/probe_use.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/error.h"
#include "config/spec.h"
#include "core/error.h"
#include "data/sha256.h"
#include "study/axes.h"
#include "study/intervention.h"
#include "study/study.h"
#include "train/durable_file.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;
constexpr const char* kNote = "of.json";

// What is wrong with the form of a rule; empty: nothing.
std::string complaint(const std::string& rule) {
  try {
    parse_intervention(rule);
  } catch (const ConfigError& error) {
    return std::string(error.what()).substr(std::string_view("error: ").size());
  }
  return "";
}

}  // namespace

std::vector<ProbeUse> read_probes(const ConfigNode& section, Problems& problems) {
  std::vector<ProbeUse> probes;
  if (section.type != ConfigNode::Type::map && section.type != ConfigNode::Type::null)
    problems.add(section.position,
                 "'study.probes' must be a section of named probes, found " + section.found());
  for (const ConfigNode::Entry& entry : section.entries) {
    const bool short_form = entry.value.type == ConfigNode::Type::scalar;
    const ConfigNode node = short_form ? assignment("probe", entry.value) : entry.value;
    ProbeUse use;
    use.name = entry.key;
    use.position = entry.position;
    if (!is_plain_name(use.name) || use.name.find('.') != std::string::npos)
      problems.add(entry.position,
                   "'" + use.name.substr(0, 60) + "' is no name for a probe: letters, digits, '_' and '-'");
    read_part({node, "study.probes." + use.name, entry.position}, use, problems);
    probes.push_back(std::move(use));
  }
  return probes;
}

void ProbeUse::fields(Fields& f) {
  f.kind("probe", probe, "what is measured");
  f("initial", initial, "on the weights that training began with, instead of the trained ones");
  f("sentences", sentences, at_least(1), "of the split, at most");
  f("split", split, "valid, train, or the name of a test set");
  f("text", text, "file of sentences instead of a split");
  f("ablate", ablate, "PATTERN=zero|mean|resample|uniform, of heads and sublayers, while it measures");
  f("arms", arms, "arms or families of arms that are measured; empty: all");
  for (const std::string& rule : ablate) {
    const std::string wrong = complaint(rule);
    f.check(wrong.empty(), "ablate", wrong);
  }
  f.check(probe != nullptr, "probe", "names what is measured: see attnlab list probe");
}

bool ProbeUse::covers(const std::string& arm) const {
  return arms.empty() || std::find(arms.begin(), arms.end(), arm) != arms.end();
}

std::string ProbeUse::refusal(const std::string& arm, const ModelSpec& spec, const Transformer& model) const {
  if (!covers(arm)) return "";
  for (const std::string& rule : ablate)
    if (!matches(parse_intervention(rule), model)) return "'" + rule + "' matches no head and no sublayer";
  return probe->refusal(spec);
}

std::string ProbeUse::kind() const { return Registry<ProbeSpec>::name_of(*probe); }

std::vector<std::string> ProbeUse::arguments(const fs::path& folder) const {
  std::vector<std::string> words{kind(), "--out", folder.string(), "--sentences", std::to_string(sentences)};
  if (text.empty())
    words.insert(words.end(), {"--split", split});
  else
    words.insert(words.end(), {"--text", text});
  if (initial) words.emplace_back("--initial");
  for (const std::string& rule : ablate) words.insert(words.end(), {"--ablate", rule});
  const auto plain = Registry<ProbeSpec>::make(kind());
  for (const SpecDifference& item : diff(*plain, *probe))
    words.insert(words.end(), {"--set", kind() + "." + item.path + "=" + item.b});
  return words;
}

std::string ProbeUse::key() const {
  std::string all = text.empty() ? "" : sha256_hex(read_small_file(text));
  for (const std::string& word : arguments("")) all += "\n" + word;
  return sha256_hex(all);
}

Record probe_numbers(const ProbeUse& use, const fs::path& folder) {
  const fs::path file = folder / (use.kind() + ".json");
  if (!fs::exists(file)) return {};
  const auto json = nlohmann::ordered_json::parse(read_small_file(file), nullptr, false);
  if (!json.is_object() || !json.contains("numbers")) throw IoError(file.string() + ": no result of a probe");
  return parse_record(json["numbers"].dump(), file.string());
}

bool is_of(const fs::path& folder, const std::string& content, const std::string& code, bool any_code) {
  if (!fs::exists(folder / kNote)) return false;
  const Record note = parse_record(read_small_file(folder / kNote), (folder / kNote).string());
  const auto* of = note.find("content");
  const auto* by = note.find("code");
  return of && by && *of == RecordValue(content) && (any_code || *by == RecordValue(code));
}

void note_content(const fs::path& folder, const std::string& content, const std::string& code) {
  write_durably(folder / kNote, to_json_text({{"content", content}, {"code", code}}));
}

}  // namespace attnlab
