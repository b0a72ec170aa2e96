// attnlab new attention NAME: a complete module of one file to start from, and what builds it.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "attention/attention.h"
#include "command.h"
#include "config/error.h"
#include "core/error.h"
#include "shell_command.h"
#include "templates.h"

namespace attnlab {
namespace {

// "my_window" -> "MyWindow".
std::string class_name(const std::string& name) {
  std::string result;
  bool upper = true;
  for (const char c : name) {
    if (c != '_') result += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = c == '_';
  }
  return result;
}

void check_name(const std::string& name) {
  const bool letters = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
  if (!letters || name.empty() || name.front() < 'a')
    throw ConfigError(fmt::format(
        "new attention: '{}' is no name for a kind; expected small letters, digits and '_', a letter first",
        name));
  for (const auto& kind : Registry<AttentionSpec>::list())
    if (kind.name == name)
      throw ConfigError(fmt::format("new attention: there is a kind '{}' already", name));
}

std::string filled(std::string text, const std::string& name) {
  const std::pair<std::string, std::string> places[] = {{"@NAME@", name}, {"@CLASS@", class_name(name)}};
  for (const auto& [place, with] : places)
    for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place, at + with.size()))
      text.replace(at, place.size(), with);
  return text;
}

void write_new(const std::filesystem::path& file, const std::string& text) {
  if (std::filesystem::exists(file))
    throw IoError(fmt::format("{}: exists already and is left as it is", file.string()));
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.flush();
  if (!out) throw IoError(fmt::format("{}: cannot write", file.string()));
}

// How the module is built and tried. It is built against an installed library: we know where that is when we
// are installed ourselves, and how to install it when we run from where we were built.
std::string next_commands(const std::filesystem::path& folder, const std::string& name) {
  const std::string source = folder.string(), build = (folder / "build").string();
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const bool installed = std::filesystem::exists(here.parent_path() / "include" / "attnlab");
  const std::string prefix = installed ? here.parent_path().string() : "PREFIX";
  std::vector<std::vector<std::string>> commands{
      {"cmake", "-S", source, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_PREFIX_PATH=" + prefix},
      {"cmake", "--build", build},
      {"attnlab", "--load", build + "/lib" + name + ".so", "check", "attention", name}};
  if (!installed && std::filesystem::exists(here / "cmake_install.cmake"))
    commands.insert(commands.begin(), {"cmake", "--install", here.string(), "--prefix", prefix});
  std::string text = installed ? "Next:\n" : "Next, with PREFIX the folder where attnlab is installed:\n";
  for (const auto& command : commands) text += "  " + shell_command(command) + "\n";
  return text;
}

int make_attention(const std::string& name, std::filesystem::path folder) {
  check_name(name);
  if (folder.empty()) folder = name;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw IoError(fmt::format("{}: {}", folder.string(), error.message()));
  write_new(folder / (name + ".cpp"), filled(kAttentionTemplate, name));
  write_new(folder / "CMakeLists.txt", filled(kAttentionCMakeTemplate, name));
  fmt::print("{0}/{1}.cpp\n{0}/CMakeLists.txt\n{2}", folder.string(), name, next_commands(folder, name));
  return 0;
}

const Command command{"new", "a module to start from", [](CLI::App& app) {
                        auto name = std::make_shared<std::string>();
                        auto folder = std::make_shared<std::string>();
                        app.require_subcommand(1);
                        CLI::App* attention =
                            app.add_subcommand("attention", "an attention kind in one file");
                        attention->add_option("name", *name, "what the kind is called in YAML")->required();
                        attention->add_option("--out", *folder, "folder to write to; unset: NAME");
                        return [name, folder] { return make_attention(*name, *folder); };
                      }};

}  // namespace
}  // namespace attnlab
