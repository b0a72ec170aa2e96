// Which code made a run: what its environment keeps of it, and what is said where another one loads it.
#include "train/other_code.h"

#include "core/error.h"
#include "support/catch.h"
#include "support/scratch.h"
#include "train/durable_file.h"
#include "train/environment.h"
#include "train/program_digest.h"

using namespace attnlab;
namespace fs = std::filesystem;

namespace {

// Of one process, since a module stays loaded: each case notes a file of its own.
std::string note_module(const fs::path& file, const std::string& bytes) {
  write_durably(file, bytes);
  note_loaded_module(file);
  return file.string();
}

// Of a run that this very program made with its modules.
Record environment_now() {
  Record environment = environment_record();
  environment.set("code", program_digest());
  return environment;
}

std::string text_in(const Record& record, const std::string& name) {
  return std::get<std::string>(*record.find(name));
}

// The record with the module that is kept under this path put in place of another one.
Record with_module(const Record& environment, const std::string& path, const LoadedModule& other) {
  Record result = environment;
  std::vector<LoadedModule> modules = noted_modules();
  for (std::size_t i = 0; i < modules.size(); ++i) {
    if (modules[i].path != path) continue;
    modules[i] = other;
    result.set(join_text("module_", i + 1), other.path);
    result.set(join_text("module_", i + 1, "_content"), other.content);
  }
  if (environment.find("code") != nullptr) result.set("code", with_modules(code_digest(), modules));
  return result;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("an environment keeps the modules, by path and content") {
  const ScratchFolder scratch;
  const std::string module = note_module(scratch.path() / "kept.so", "a kind of attention");
  const Record environment = environment_record();
  const std::string number = std::to_string(noted_modules().size());
  CHECK(text_in(environment, "module_" + number) == module);
  CHECK(text_in(environment, "module_" + number + "_content") ==
        join_text("19 bytes, crc ", digest_of(module).crc32));
  CHECK(code_differences(environment_now()).empty());
}

TEST_CASE("a module that changed or is not loaded is told from a program that did") {
  const ScratchFolder scratch;
  const std::string module = note_module(scratch.path() / "window.so", "a kind of attention");
  const Record now = environment_now();
  REQUIRE(code_differences(now).empty());
  for (const bool with_code : {true, false}) {  // a pruned model keeps its modules alone
    Record kept = now;
    if (!with_code) kept = module_record();
    const auto changed = code_differences(with_module(kept, module, {"old/window.so", "7 bytes, crc 1"}));
    REQUIRE(changed.size() == 1);
    CHECK(changed[0].of_its_modules);
    CHECK(holds(changed[0].text,
                "old/window.so is another one: then old/window.so (7 bytes, crc 1), now " + module));
    const auto missing = code_differences(with_module(kept, module, {"other.so", "7 bytes, crc 1"}));
    REQUIRE(!missing.empty());
    CHECK(missing[0].of_its_modules);
    CHECK(holds(missing[0].text, "other.so (7 bytes, crc 1) is not loaded"));
  }
  // The same file by another name is no other module.
  CHECK(code_differences(with_module(now, module, {"renamed.so", noted_modules().back().content})).empty());
  Record other = now;
  other.set("code", std::string(64, '0'));
  const auto program = code_differences(other);
  REQUIRE(program.size() == 1);
  CHECK_FALSE(program[0].of_its_modules);
  CHECK(holds(program[0].text, "numeric code of the program"));
  other.set("code", std::string(64, '0') + " and " + program_digest());  // this program had part in it
  CHECK(code_differences(other).empty());
}

TEST_CASE("a module more than the run was made with is no warning; a run that says nothing is left alone") {
  const ScratchFolder scratch;
  const Record before = environment_now();
  const std::string module = note_module(scratch.path() / "further.so", "another kind");
  const auto added = code_differences(before);
  REQUIRE(added.size() == 1);
  CHECK_FALSE(added[0].of_its_modules);
  CHECK(holds(added[0].text, module + " ("));
  CHECK(holds(added[0].text, "was not loaded then"));
  CHECK(code_differences({}).empty());
  CHECK_NOTHROW(warn_of_other_code(scratch.path()));
  write_durably(scratch.path() / "environment.json", "{");
  CHECK_NOTHROW(warn_of_other_code(scratch.path()));
}
