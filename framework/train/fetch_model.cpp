#include "train/fetch_model.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "config/closest.h"
#include "config/error.h"
#include "data/download.h"
#include "data/fetch.h"
#include "train/durable_file.h"
#include "train/published_model.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "config.json";
constexpr const char* kIndex = "model.safetensors.index.json";
// Files of an unknown model: the first two must be there (or an index), of the others what there is.
const std::vector<std::string> kOptional{"tokenizer.json", "tokenizer_config.json", "vocab.txt", "vocab.json",
                                         "merges.txt",     "tokenizer.model"};

bool is_address(const std::string& name) { return name.find("://") != std::string::npos; }

std::string without_slashes(std::string address) {
  while (!address.empty() && address.back() == '/') address.pop_back();
  return address;
}

// The name of the model in an address: its last part, or of https://HUB/OWNER/MODEL/resolve/REVISION the
// third.
std::string name_in(std::string address) {
  address = without_slashes(address);
  const fs::path revision(address);
  if (revision.parent_path().filename() == "resolve") address = revision.parent_path().parent_path().string();
  const std::string part = address.substr(address.rfind('/') + 1);
  const bool usable = !part.empty() && part != "." && part != "..";
  if (!usable) throw ConfigError("error: " + address + ": no name at the end of the address");
  return part;
}

class Fetching {
 public:
  Fetching(std::string address, fs::path folder, const FetchModelOptions& options)
      : address_(std::move(address)),
        folder_(std::move(folder)),
        mark_(folder_ / "source.txt"),
        options_(options) {}

  // Two models of one name do not end up in each other's files: the first file that arrives marks the folder.
  void check_folder() const {
    std::error_code error;
    if (!fs::exists(mark_, error)) {
      fs::remove(folder_ / (std::string(kConfig) + ".part"), error);
    } else if (const std::string owner = read_small_file(mark_); owner != address_ + "\n") {
      throw ConfigError("error: " + folder_.string() + " is of " + owner.substr(0, owner.find('\n')) +
                        ", not of " + address_ + "; move it away, or choose another folder with --root");
    }
  }

  // False if the source does not have the file.
  bool bring(const DataSetFile& file) const {
    const bool brought = bring_file(file);
    std::error_code error;
    if (brought && !fs::exists(mark_, error)) write_durably(mark_, address_ + "\n");
    return brought;
  }

  void require(const DataSetFile& file) const {
    if (!bring(file))
      throw IoError((options_.from.empty() ? address_ : options_.from.string()) + ": no file " + file.name +
                    " there");
  }

  void bring_shards() const {
    const auto root = nlohmann::json::parse(read_small_file(folder_ / kIndex), nullptr, false);
    std::set<std::string> files;
    if (root.is_object() && root.contains("weight_map"))
      for (const auto& [tensor, file] : root["weight_map"].items())
        if (file.is_string() && fs::path(file.get<std::string>()).filename() == file.get<std::string>())
          files.insert(file.get<std::string>());
    for (const auto& file : files) require({file, "", ""});
  }

 private:
  bool bring_file(const DataSetFile& file) const {
    const std::string url = file.url.empty() ? address_ + "/" + file.name : file.url;
    if (!file.sha256.empty()) {  // checked also where it is there
      fetch_file({file.name, url, file.sha256}, folder_, {options_.root, options_.from, options_.say});
      return true;
    }
    const fs::path to = folder_ / file.name;
    std::error_code error;
    if (fs::exists(to, error)) return say(file.name + " is there"), true;
    if (options_.from.empty()) return bring_from_address(url, to);
    // In a folder it may have the name that it has here, or that of its source.
    return bring_from_folder(options_.from / file.name, to) ||
           bring_from_folder(options_.from / fs::path(url).filename(), to);
  }

  void say(const std::string& line) const {
    if (options_.say) options_.say(line);
  }
  bool bring_from_folder(const fs::path& from, const fs::path& to) const {
    std::error_code error;
    if (!fs::exists(from, error)) return false;
    const fs::path part = temporary_name(to);
    fs::copy_file(from, part, fs::copy_options::overwrite_existing);
    fs::rename(part, to);
    say(to.filename().string() + " copied");
    return true;
  }
  bool bring_from_address(const std::string& url, const fs::path& to) const {
    const std::string name = to.filename().string();
    const fs::path part = to.string() + ".part";
    try {
      download(url, part);
    } catch (const IoError& error) {
      say(name + ": " + error.what());
      return false;
    }
    fs::rename(part, to);
    say(name + " downloaded");
    return true;
  }
  std::string address_;
  fs::path folder_, mark_;
  const FetchModelOptions& options_;
};

void bring_known(const Fetching& fetching, const KnownModel& model) {
  for (const auto& file : model.files) fetching.require(file);
}

void bring_unknown(const Fetching& fetching) {
  fetching.require({kConfig, "", ""});
  if (fetching.bring({kIndex, "", ""}))
    fetching.bring_shards();
  else
    fetching.require({"model.safetensors", "", ""});
  for (const auto& name : kOptional) fetching.bring({name, "", ""});
}

}  // namespace

fs::path fetch_model(const std::string& name, const FetchModelOptions& options) {
  const auto& known = known_models();
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&name](const KnownModel& model) { return model.name == name; });
  if (found == known.end() && !is_address(name)) {
    std::vector<std::string> names;
    std::string all;
    for (const auto& model : known) {
      names.push_back(model.name);
      all += (all.empty() ? "" : ", ") + model.name;
    }
    const std::string near = closest_match(name, names);
    throw ConfigError("error: no model is known as '" + name + "'" +
                      (near.empty() ? "" : ", did you mean '" + near + "'?") + "; known are " + all +
                      "; an address of a folder (https://…) works, too");
  }
  const fs::path folder = options.root / (is_address(name) ? name_in(name) : name);
  const Fetching fetching(found != known.end() ? found->address : without_slashes(name), folder, options);
  fetching.check_folder();
  fs::create_directories(folder);
  if (found != known.end())
    bring_known(fetching, *found);
  else
    bring_unknown(fetching);
  published_keys(folder);  // reads the header and config.json, and throws what is wrong with them
  return folder;
}

}  // namespace attnlab
