#include "train/other_code.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "train/durable_file.h"
#include "train/log.h"
#include "train/program_digest.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

std::string field_of(std::size_t number) { return join_text("module_", number); }

std::vector<LoadedModule> modules_in(const Record& environment) {
  std::vector<LoadedModule> modules;
  for (std::size_t number = 1; environment.find(field_of(number)) != nullptr; ++number)
    modules.push_back({environment.text(field_of(number)), environment.text(field_of(number) + "_content")});
  return modules;
}

std::string described(const LoadedModule& module) { return module.path + " (" + module.content + ")"; }

bool holds_content(const std::vector<LoadedModule>& modules, const LoadedModule& wanted) {
  return std::any_of(modules.begin(), modules.end(),
                     [&wanted](const LoadedModule& one) { return one.content == wanted.content; });
}

const LoadedModule* find_by_name(const std::vector<LoadedModule>& modules, const LoadedModule& wanted) {
  for (const LoadedModule& one : modules)
    if (fs::path(one.path).filename() == fs::path(wanted.path).filename()) return &one;
  return nullptr;
}

// A run's module that is not at work as it was: another file of its name is, or none.
std::string fate_of(const LoadedModule& module) {
  if (const LoadedModule* other = find_by_name(noted_modules(), module))
    return "the module " + module.path + " is another one: then " + described(module) + ", now " +
           described(*other);
  return "the module " + described(module) + " is not loaded; --load FILE.so loads it";
}

void log_once(bool warning, const std::string& text) {
  static std::set<std::string> said;
  if (!said.insert(text).second) return;
  if (warning)
    log_warning(text);
  else
    log_info(text);
}

}  // namespace

Record module_record() {
  Record record;
  std::size_t number = 0;
  for (const LoadedModule& module : noted_modules()) {
    record.set(field_of(++number), module.path);
    record.set(field_of(number) + "_content", module.content);
  }
  return record;
}

std::vector<CodeDifference> code_differences(const Record& environment) {
  const std::string code = environment.text("code");  // where several had part: "… and …"
  const auto had_part = [&code](const std::string& digest) { return code.find(digest) != std::string::npos; };
  if (had_part(program_digest())) return {};
  const std::vector<LoadedModule> there = modules_in(environment);
  std::vector<CodeDifference> differences;
  for (const LoadedModule& module : there)
    if (!holds_content(noted_modules(), module)) differences.push_back({true, fate_of(module)});
  if (code.empty()) return differences;
  if (!had_part(with_modules(code_digest(), there))) {
    differences.push_back({false, "the numeric code of the program is another one"});
    return differences;
  }
  for (const LoadedModule& module : noted_modules())
    if (!holds_content(there, module) && find_by_name(there, module) == nullptr)
      differences.push_back({false, "the module " + described(module) + " was not loaded then"});
  return differences;
}

void warn_of_other_code(const fs::path& run) {
  const fs::path file = run / "environment.json";
  std::error_code error;
  if (!fs::exists(file, error)) return;
  try {
    for (const CodeDifference& difference :
         code_differences(parse_record(read_small_file(file), file.string())))
      log_once(difference.of_its_modules, run.string() + " was made by other code: " + difference.text);
  } catch (const IoError& damaged) {
    log_once(true, std::string(damaged.what()) + "; so it is not known what code made this run");
  }
}

}  // namespace attnlab
