// attnlab probe RUN PROBE…: measurements on a trained model that leave its weights alone.
#include <fmt/format.h>

#include "command.h"
#include "config/error.h"
#include "option_ranges.h"
#include "probe_assignments.h"
#include "study/intervention.h"
#include "study/probe_files.h"
#include "train/log.h"

namespace attnlab {
namespace {

struct Options {
  std::string run, text, split = "valid", out, precision;
  std::vector<std::string> probes, ablate, assignments;
  std::int64_t sentences = 64;
  bool json = false, initial = false;
};

// Where the whole tables are in files, a look at each is enough.
constexpr std::size_t kRowsBesideFiles = 20;

struct NamedProbe {
  std::string name;
  std::shared_ptr<ProbeSpec> spec;
};

std::vector<NamedProbe> chosen_probes(const Options& options, const ProbeAssignments& assignments) {
  std::vector<NamedProbe> probes;
  for (const std::string& name : options.probes) probes.push_back({name, assignments.make(name)});
  return probes;
}

// The precision asked for, else the widest that some probe needs.
DType precision_of(const Options& options, const std::vector<NamedProbe>& probes) {
  DType type = DType::f32;
  for (const NamedProbe& probe : probes)
    if (probe.spec->precision() == DType::f64) type = DType::f64;
  if (options.precision.empty()) return type;
  if (options.precision == "f32" && type == DType::f64)
    throw ConfigError("error: --precision f32: one of these probes needs f64");
  return options.precision == "f64" ? DType::f64 : DType::f32;
}

// Puts the sentences in, and the interventions in force that are asked for.
std::unique_ptr<Interventions> choose(const TrainedModel& trained, const Options& options,
                                      ProbeSubject& subject) {
  choose_sentences(trained, {options.text, options.split, options.sentences}, subject);
  std::vector<Intervention> rules;
  for (const std::string& rule : options.ablate) rules.push_back(parse_intervention(rule));
  return rules.empty() ? nullptr : std::make_unique<Interventions>(subject, rules);
}

int probe(const Options& options) {
  const ProbeAssignments assignments = split_assignments(options.assignments, options.probes);
  const auto probes = chosen_probes(options, assignments);
  TrainedModel trained =
      load_for_probing(options.run, precision_of(options, probes), assignments.run, options.initial);
  for (const NamedProbe& one : probes)
    if (const std::string reason = one.spec->refusal(trained.model().spec()); !reason.empty())
      throw ConfigError("error: probe '" + one.name + "': " + reason);
  log_info("weights: " + trained.weights);
  ProbeSubject subject = subject_of(trained);
  const std::unique_ptr<Interventions> interventions = choose(trained, options, subject);
  for (const NamedProbe& one : probes) {
    const ProbeResult result = run_probe(*one.spec, subject);
    const Record about{{"probe", one.name},
                       {"run", trained.folder.string()},
                       {"weights", trained.weights},
                       {"precision", to_string(trained.built->parameters.type())},
                       {"text", options.text.empty() ? options.split : options.text},
                       {"sentences", static_cast<std::int64_t>(subject.examples.size())},
                       {"ablate", fmt::format("{}", fmt::join(options.ablate, " "))},
                       {"weights_crc32", hash_of(trained.built->parameters)}};
    if (!options.out.empty()) write_probe(options.out, one.name, result, about);
    if (options.json)
      fmt::print("{}", to_json_text(result, about));
    else
      fmt::print("{}\n{}", one.name,
                 options.out.empty() ? to_text(result) : to_text(result, kRowsBesideFiles));
  }
  return 0;
}

const Command command{
    "probe", "measure a trained model, or the same untrained", [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option("run", options->run, "run folder, or a checkpoint in it")->required();
      app.add_option("probes", options->probes, "what to measure: see attnlab list probe")->required();
      app.add_option("--text", options->text,
                     "file of sentences, one a line; a tab may separate source and target (of a classifier: "
                     "text and label)");
      app.add_option("--split", options->split, "without --text: valid, train, or the name of a test set")
          ->capture_default_str();
      app.add_option("--sentences", options->sentences, "of the split, at most")
          ->check(positive_whole())
          ->capture_default_str();
      app.add_option("--ablate", options->ablate,
                     "PATTERN=zero|mean|resample|uniform, of heads and sublayers: encoder.layers.*.mlp=mean, "
                     "decoder.layers.0.self_attention.heads.3=zero")
          ->allow_extra_args(false)
          ->take_all();
      app.add_option("--out", options->out, "folder for PROBE.json and PROBE.npz");
      app.add_option("--precision", options->precision,
                     "f32 or f64; the least that the probes allow otherwise")
          ->check(CLI::IsMember({"f32", "f64"}));
      app.add_flag("--json", options->json, "print JSON instead of tables");
      app.add_flag("--initial", options->initial, "the weights that training began with");
      app.add_option("--set", options->assignments,
                     "PROBE.key=value for a probe, a.b=value on top of the run's config")
          ->allow_extra_args(false)
          ->take_all();
      return [options] { return probe(*options); };
    }};

}  // namespace
}  // namespace attnlab
