#include "study/probe.h"

#include <fmt/format.h>
#include <zlib.h>

#include "config/error.h"
#include "config/spec.h"

namespace attnlab {
namespace {

struct ProbeChoice {
  std::shared_ptr<ProbeSpec> probe;
  void fields(Fields& f) { f.kind("probe", probe, "what is measured"); }
};

}  // namespace

std::string hash_of(const ParameterSet& parameters) {
  uLong crc = crc32(0, nullptr, 0);
  for (const Tensor& arena : {parameters.values(), parameters.working()}) {
    if (!arena) continue;
    const auto bytes = static_cast<std::size_t>(arena.count() * size_of(arena.type()));
    crc = crc32_z(crc, static_cast<const Bytef*>(arena.raw()), bytes);
  }
  return fmt::format("{:08x}", crc);
}

ProbeResult run_probe(const ProbeSpec& spec, ProbeSubject& subject) {
  const std::string name = Registry<ProbeSpec>::name_of(spec);
  const std::string refusal = spec.refusal(subject.model.spec());
  if (!refusal.empty()) throw ConfigError("error: probe '" + name + "': " + refusal);
  if (subject.examples.empty())
    throw ConfigError("error: probe '" + name + "': there is no text to run it on");
  const std::string before = hash_of(subject.parameters);
  ProbeResult result = spec.run(subject);
  if (hash_of(subject.parameters) != before) throw Error("probe '" + name + "' changed the weights");
  return result;
}

std::shared_ptr<ProbeSpec> make_probe(const std::string& name, const std::vector<std::string>& assignments) {
  std::vector<std::string> all{"probe.kind=" + name};
  for (const auto& item : assignments) all.push_back("probe." + item);
  ProbeChoice choice;
  read_spec(Tree::load({}, all), choice);
  return choice.probe;
}

}  // namespace attnlab
