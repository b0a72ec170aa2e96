// The contract of a probe: a measurement on a model that never touches its weights. A probe is one .cpp file
// that registers itself, like an attention; `attnlab probe` and studies run it.
#pragma once

#include <string>
#include <vector>

#include "config/registry.h"
#include "study/probe_subject.h"
#include "train/record.h"
#include "train/safetensors.h"

namespace attnlab {

// Rows of values under named columns.
struct Table {
  std::string name;
  std::vector<std::string> columns;
  std::vector<std::vector<RecordValue>> rows;
};

struct ProbeResult {
  Record numbers;                   // by name: what the expectations of a study refer to
  std::vector<Table> tables;        // for people and the report
  std::vector<NamedTensor> arrays;  // for further work: NAME.npz
  std::vector<std::string> notes;   // what a reader must know: samples left out, limits met
};

// A probe with its options.
struct ProbeSpec {
  static constexpr const char* kRegistry = "probe";
  virtual ~ProbeSpec() = default;
  virtual void fields(Fields& f) = 0;
  // The least precise type that the probe may run in.
  virtual DType precision() const { return DType::f32; }
  // Why a model of this spec has not what the probe measures; empty if it has.
  virtual std::string refusal(const ModelSpec&) const { return {}; }
  virtual ProbeResult run(ProbeSubject& subject) const = 0;
};

// Runs a probe. Throws ConfigError with the refusal; Error if the bytes of the weights are not what they
// were.
ProbeResult run_probe(const ProbeSpec& spec, ProbeSubject& subject);

// A probe from its name and assignments to its keys ("estimator=sample"). Throws ConfigError.
std::shared_ptr<ProbeSpec> make_probe(const std::string& name, const std::vector<std::string>& assignments);

// CRC-32 of all weights, in hexadecimal.
std::string hash_of(const ParameterSet& parameters);

}  // namespace attnlab
