// A study as read from its file: arms, each an overlay on one experiment, and what is expected of them.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/document.h"
#include "study/expectation.h"
#include "study/preparation.h"
#include "study/probe_use.h"
#include "study/study_spec.h"
#include "train/experiment_spec.h"

namespace attnlab {

// One value of one axis, as a person would write it.
struct AxisValue {
  std::string key, text;
  std::optional<double> number;
};

struct Arm {
  std::string name;
  ArmSpec spec;
  std::optional<double> published;
  std::vector<AxisValue> point;  // where it lies on the axes that made it
  std::string baseline;          // the arm that it is compared with
  std::string starts_from;       // the preparation whose weights it takes; empty: none
  bool kept_only = false;        // left out, but shown with the runs that are kept of it
  SourcePosition position;
  Tree tree;  // the whole configuration

  // The configuration for a seed and, where rates are swept, a rate.
  Tree configuration(std::int64_t seed, std::optional<double> rate) const;
};

// A claim that cannot be judged here.
struct UnjudgedClaim {
  std::string name;
  std::vector<std::string> left_out;  // its arms that `only` and `without` leave out
};

struct Study {
  StudySpec spec;
  bool quick = false;
  std::vector<std::string> files;
  std::vector<Preparation> preparations;  // those that an arm starts from
  std::vector<Arm> arms;
  std::vector<ProbeUse> probes;
  std::vector<Claim> claims;  // those whose arms are all there
  std::vector<UnjudgedClaim> unjudged;
  std::map<std::string, SourcePosition> places;  // of the keys of its section, "metric"

  const Arm* find(std::string_view name) const;
  // runs/NAME, or runs/NAME-quick.
  std::string folder_name() const { return spec.name + (quick ? "-quick" : ""); }
  // "study.yaml:3:5: error: 'study.metric'": how an error about a key of its section begins.
  std::string error_about(const std::string& key) const;
};

// Whether it can name an arm, a probe or a preparation: it becomes a folder.
bool is_plain_name(std::string_view name);

// Whether these files describe a study.
bool is_study(const Tree& tree);

// Reads the study and every arm's configuration. `quick` puts the section study.quick on top of the files,
// below the assignments; it may say what a file may say. Arms that `only` and `without` leave out are there,
// too, if `kept` names them, as kept_only. Throws one ConfigError with all problems.
Study read_study(Tree tree, bool quick, const std::vector<std::string>& kept = {});

// The experiment of a configuration that read_study has checked.
std::unique_ptr<ExperimentSpec> experiment_of(const Tree& tree);

}  // namespace attnlab
