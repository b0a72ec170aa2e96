// A probe as a study uses it: on every finished run of its arms, in a process of its own. Its numbers become
// metrics, NAME.number.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "config/document.h"
#include "config/position.h"
#include "config/problems.h"
#include "study/probe.h"

namespace attnlab {

struct ProbeUse {
  std::string name;
  SourcePosition position;
  std::shared_ptr<ProbeSpec> probe;
  bool initial = false;
  std::int64_t sentences = 64;
  std::string split = "valid", text;
  std::vector<std::string> ablate;  // interventions, "PATTERN=zero"
  std::vector<std::string> arms;

  void fields(Fields& f);
  bool covers(const std::string& arm) const;
  // Why it cannot measure this arm's model; empty: it can.
  std::string refusal(const std::string& arm, const ModelSpec& spec, const Transformer& model) const;
  std::string kind() const;  // registered name of the probe
  // What follows `attnlab probe RUN`; the result goes to `folder`.
  std::vector<std::string> arguments(const std::filesystem::path& folder) const;
  // Identity of all that it measures, the weights aside.
  std::string key() const;
};

// The section `probes:`, {NAME: PROBE} or {NAME: {probe: PROBE, …}}. What is wrong goes to `problems`.
std::vector<ProbeUse> read_probes(const ConfigNode& section, Problems& problems);

// What a probe found in a folder that it wrote; empty if there is nothing. Throws IoError if it is damaged.
Record probe_numbers(const ProbeUse& use, const std::filesystem::path& folder);

// Results of probes are kept with a note of what they are of: the weights, the probe, the code.
bool is_of(const std::filesystem::path& folder, const std::string& content, const std::string& code,
           bool any_code);
void note_content(const std::filesystem::path& folder, const std::string& content, const std::string& code);

}  // namespace attnlab
