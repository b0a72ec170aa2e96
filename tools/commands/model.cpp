// attnlab model: published models and ours. get fetches one, show says what a folder holds, export writes a
// run as one.
#include <fmt/core.h>

#include "command.h"
#include "config/error.h"
#include "train/durable_file.h"
#include "train/export_model.h"
#include "train/fetch_model.h"
#include "train/published_model.h"
#include "train/trained_model.h"

namespace attnlab {
namespace {

std::string known_names() {
  std::string text;
  for (const KnownModel& model : known_models()) text += "\n" + model.name + ": " + model.doc;
  return "known models:" + text;
}

int get(const std::string& name, FetchModelOptions options) {
  if (name.empty()) throw ConfigError("error: model get: a name or an address is missing\n" + known_names());
  options.say = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  fmt::print("{}\n", fetch_model(name, options).string());
  return 0;
}

int show(const std::string& path) {
  const PublishedModel model(path);
  fmt::print("# {}, {}\n{}", Registry<WeightFamily>::name_of(*model.family), model.files.describe(),
             published_keys(path));
  return 0;
}

struct ExportOptions {
  std::string run, folder, family;
};

int export_run(const ExportOptions& options) {
  const TrainedModel trained = load_trained_model(options.run);
  const Index merged = merge_adapters(trained.spec->model.adapters, trained.built->parameters);
  const ExportReport report =
      export_model(trained.spec->model, trained.built->parameters, options.family, options.folder);
  std::string files = "model.safetensors, config.json";
  const Tokenizer& words = trained.source ? *trained.source : *trained.target;
  for (const auto& [name, bytes] : words.published_files()) {
    write_durably(std::filesystem::path(options.folder) / name, bytes);
    files += ", " + name;
  }
  fmt::print("{}: {} tensors as {} ({}), from {}\n", options.folder, report.tensors, report.family, files,
             trained.weights);
  if (merged > 0) fmt::print("merged: {} adapters\n", merged);
  for (const auto& name : report.left_out) fmt::print("left out: {}\n", name);
  return 0;
}

const Command command{
    "model", "fetch published models, look into them, write runs as such", [](CLI::App& app) {
      auto name = std::make_shared<std::string>();
      auto path = std::make_shared<std::string>();
      auto fetch = std::make_shared<FetchModelOptions>();
      auto exporting = std::make_shared<ExportOptions>();
      auto chosen = std::make_shared<std::function<int()>>();
      app.require_subcommand(1);
      CLI::App* getting = app.add_subcommand("get", "fetch a model into models/NAME");
      getting->add_option("name", *name, "a known name, or the address of a folder with such files");
      getting->add_option("--from", fetch->from, "copy from this folder instead of downloading");
      getting->add_option("--root", fetch->root, "folder of models")->capture_default_str();
      getting->footer(known_names());
      getting->callback([=] { *chosen = [=] { return get(*name, *fetch); }; });
      CLI::App* showing = app.add_subcommand("show", "family and keys of a published model");
      showing->add_option("path", *path, "folder, .safetensors file, or .bin of llama2.c")->required();
      showing->callback([=] { *chosen = [=] { return show(*path); }; });
      CLI::App* writing = app.add_subcommand("export", "write a run as a published model");
      writing->add_option("run", exporting->run, "run folder or checkpoint")->required();
      writing->add_option("folder", exporting->folder, "where to write")->required();
      writing->add_option("--family", exporting->family,
                          "bert, gpt2 or llama; otherwise the first that fits");
      writing->callback([=] { *chosen = [=] { return export_run(*exporting); }; });
      return [chosen] { return (*chosen)(); };
    }};

}  // namespace
}  // namespace attnlab
