#include "study/study.h"

#include <algorithm>
#include <cctype>

#include "config/closest.h"
#include "config/error.h"
#include "config/overlays.h"
#include "config/scalars.h"
#include "config/spec.h"
#include "study/arm_names.h"
#include "study/arm_overlays.h"
#include "study/axes.h"
#include "study/expectation_record.h"

namespace attnlab {
namespace {

const std::vector<std::string> kReadByHand{"arms", "axes", "expect", "prepare", "probes", "quick"};

// What an arm may say besides its own keys: its axes, and what a file without a study says.
std::vector<std::string> overlay_keys() {
  std::vector<std::string> keys{"axes"};
  for (const FieldDoc& field : describe(ExperimentSpec()))
    if (field.path.find('.') == std::string::npos) keys.push_back(field.path);
  return keys;
}

ConfigNode taken(ConfigNode& node, std::string_view key) {
  const ConfigNode::Entry* entry = node.find(key);
  ConfigNode value = entry ? entry->value : ConfigNode{};
  std::erase_if(node.entries, [key](const auto& other) { return other.key == key; });
  return value;
}

ConfigNode together(const ConfigNode& below, const ConfigNode& above) {
  return merge({{&below, below.position}, {&above, above.position}});
}

// A section `study:` on top of another; each may have preparations in their short form.
ConfigNode study_sections(ConfigNode below, ConfigNode above) {
  for (ConfigNode* node : {&below, &above})
    for (ConfigNode::Entry& entry : node->entries)
      if (entry.key == "prepare") entry.value = written_out(std::move(entry.value));
  return together(below, above);
}

class Reader {
 public:
  Reader(Tree tree, bool quick, std::vector<std::string> kept)
      : tree_(std::move(tree)), order_(tree_.file_order()), kept_(std::move(kept)) {
    study_.quick = quick;
  }

  Study read() {
    study_.files = tree_.files();
    start_ = tree_.where("study").value_or(tree_.start());
    ConfigNode assigned = tree_.take_assigned("study");
    node_ = tree_.take("study");
    const ConfigNode quick = together(taken(node_, "quick"), taken(assigned, "quick"));
    if (study_.quick) apply_quick(quick);
    node_ = study_sections(std::move(node_), std::move(assigned));
    for (const ConfigNode::Entry& entry : node_.entries) study_.places[entry.key] = entry.position;
    read_part({node_, "study", start_, kReadByHand}, study_.spec, problems_);
    const auto base = std::make_unique<ExperimentSpec>();
    read_spec(tree_, *base, problems_);
    read_claims();
    study_.probes = read_probes(taken(node_, "probes"), problems_);
    prepare();
    read_arms();
    check_claims();
    check_probes();
    throw_problems();
    return std::move(study_);
  }

 private:
  // The quick section may hold what a file may hold: keys of the experiment, and a `study:` of its own.
  // Assignments are on top of it, as of everything that files say.
  void apply_quick(ConfigNode quick) {
    if (quick.type == ConfigNode::Type::null) {
      problems_.add(start_, "'study.quick' is missing: this study has no quick version");
      return;
    }
    if (quick.type != ConfigNode::Type::map) {
      problems_.add(quick.position, "'study.quick' must be a section, found " + quick.found());
      return;
    }
    ConfigNode study = taken(quick, "study");
    // Expectations are not mixed: those of the quick version stand alone.
    if (study.find("expect") != nullptr) taken(node_, "expect");
    node_ = study_sections(std::move(node_), std::move(study));
    tree_.add_to_files(std::move(quick));
  }

  void read_claims() {
    const ConfigNode expect = taken(node_, "expect");
    if (expect.type == ConfigNode::Type::map)
      for (const ConfigNode::Entry& entry : expect.entries)
        study_.claims.push_back({entry.key, nullptr, "", entry.position});
    read_part(
        {expect, "study.expect", start_},
        [this](Fields& f) {
          for (Claim& claim : study_.claims) f.kind(claim.name, claim.spec, "a claim");
        },
        problems_);
    for (std::size_t i = 0; i < study_.claims.size(); ++i) {
      Claim& claim = study_.claims[i];
      if (!claim.spec)
        problems_.add(study_.claims[i].position, "'study.expect." + claim.name +
                                                     "' needs a kind of expectation, one of " +
                                                     join_names(expectation_names()));
      else
        claim.hash = hash_of(claim, study_.spec.metric, study_.spec.baseline);
    }
  }

  void prepare() {
    study_.preparations = read_preparations(taken(node_, "prepare"), tree_, problems_);
    for (const Preparation& preparation : study_.preparations)
      for (const std::string& file : preparation.tree.files())
        if (std::find(order_.begin(), order_.end(), file) == order_.end()) order_.push_back(file);
  }

  // What the arm's weights start from, where that is a preparation.
  std::string start_of(const Arm& arm, const std::string& from) {
    std::string name(prepared_name(from));
    std::vector<std::string> known;
    for (const Preparation& preparation : study_.preparations) known.push_back(preparation.name);
    if (name.empty() || std::find(known.begin(), known.end(), name) != known.end()) return name;
    const std::string near = closest_match(name, known);
    problems_.add(
        arm.tree.where("model.from").value_or(arm.position),
        "'study.prepare' has no run '" + name + "'" + (near.empty() ? "" : ", did you mean '" + near + "'?"));
    return "";
  }

  // Those that no arm starts from are a mistake; those that only arms left out need are left out, too.
  void select_preparations(const std::vector<Arm>& all) {
    const auto wanted = [](const std::vector<Arm>& arms, const Preparation& preparation) {
      return std::any_of(arms.begin(), arms.end(),
                         [&](const Arm& arm) { return arm.starts_from == preparation.name; });
    };
    for (const Preparation& preparation : study_.preparations)
      if (!wanted(all, preparation))
        problems_.add(preparation.position, "'study.prepare." + preparation.name +
                                                "': no arm starts from it, as 'model.from: prepared:" +
                                                preparation.name + "' would");
    std::erase_if(study_.preparations, [&](const auto& one) { return !wanted(study_.arms, one); });
  }

  void check_probes() {
    if (!names_known_) return;
    for (ProbeUse& use : study_.probes)
      use.arms = arms_meant(use.arms, "study.probes." + use.name, use.position);
  }

  // With the arms of a family in place of its name.
  std::vector<std::string> arms_meant(const std::vector<std::string>& names, const std::string& path,
                                      const SourcePosition& position) {
    std::vector<std::string> arms;
    for (const std::string& name : names) {
      const std::vector<std::string> meant = names_.meant_by(name);
      if (meant.empty()) problems_.add(position, names_.unknown(path, name));
      arms.insert(arms.end(), meant.begin(), meant.end());
    }
    return arms;
  }

  // A single arm, or a control.
  void require_arm(const std::string& name, const std::string& path, const SourcePosition& position) {
    if (!runs(name) && !names_.has(name)) problems_.add(position, names_.unknown(path, name));
  }

  void require_axis(const std::string& key, const Claim& claim) {
    for (const std::string& name : claim.spec->arms()) {
      const Arm* arm = study_.find(name);
      if (arm == nullptr) continue;
      std::vector<std::string> keys;
      for (const AxisValue& value : arm->point) keys.push_back(value.key);
      if (std::find(keys.begin(), keys.end(), key) == keys.end())
        problems_.add(claim.position, "'study.expect." + claim.name + "': arm '" + name +
                                          "' has no value on an axis '" + key + "'" +
                                          (keys.empty() ? "" : "; it has " + join_names(keys)));
    }
  }

  static std::vector<std::string> expectation_names() {
    std::vector<std::string> names;
    for (const auto& kind : Registry<ExpectationSpec>::list()) names.push_back(kind.name);
    return names;
  }

  // Whether there is an arm or a control of this name among those that run.
  bool runs(const std::string& name) const {
    const auto& controls = study_.spec.controls;
    return study_.find(name) != nullptr ||
           std::find(controls.begin(), controls.end(), name) != controls.end();
  }

  // Arms that a claim names must exist in the file; where `only` or `without` leave one out, it is not
  // judged.
  void check_claims() {
    if (!names_known_) return;
    std::vector<Claim> claims;
    for (Claim& claim : study_.claims) {
      std::vector<std::string> left_out = claim.spec->arms();
      for (const std::string& name : left_out)
        require_arm(name, "study.expect." + claim.name, claim.position);
      for (const std::string& axis : claim.spec->axes()) require_axis(axis, claim);
      std::erase_if(left_out, [this](const std::string& name) { return runs(name); });
      if (left_out.empty())
        claims.push_back(std::move(claim));
      else
        study_.unjudged.push_back({claim.name, std::move(left_out)});
    }
    study_.claims = std::move(claims);
  }

  void read_arms() {
    const ConfigNode arms = taken(node_, "arms"), axes = taken(node_, "axes");
    const std::vector<GridPoint> grid = grid_of(axes, "study.axes", problems_);
    if (arms.type == ConfigNode::Type::map) {
      for (const ConfigNode::Entry& arm : arms.entries) read_arm(arm, grid);
    } else if (arms.type != ConfigNode::Type::null) {
      problems_.add(arms.position, "'study.arms' must be a section of named arms, found " + arms.found());
    } else if (axes.type == ConfigNode::Type::map) {
      read_arm({"arm", start_, {}}, grid);
    }
    if (study_.arms.empty() && problems_.empty()) problems_.add(start_, "'study' has neither arms nor axes");
    select();
    set_baselines();
  }

  void read_arm(const ConfigNode::Entry& entry, const std::vector<GridPoint>& study_grid) {
    const std::string path = "study.arms." + entry.key;
    if (!is_plain_name(entry.key))
      problems_.add(entry.position, "'" + entry.key.substr(0, 60) +
                                        "' is no name for an arm: letters, digits, '_', '-' and '.', not "
                                        "'study' or 'prepared'; it becomes a folder");
    ConfigNode overlay = entry.value;
    ArmSpec spec;
    ConfigNode own;  // the arm's own keys; the rest is an overlay on the experiment
    own.type = ConfigNode::Type::map;
    own.position = overlay.position;
    const std::vector<std::string> others = overlay_keys();
    if (overlay.type == ConfigNode::Type::map) {
      const auto mine = std::stable_partition(
          overlay.entries.begin(), overlay.entries.end(), [&others](const ConfigNode::Entry& one) {
            return std::find(others.begin(), others.end(), one.key) != others.end();
          });
      own.entries.assign(mine, overlay.entries.end());
      overlay.entries.erase(mine, overlay.entries.end());
    } else if (overlay.type != ConfigNode::Type::null) {
      return problems_.add(overlay.position, "'" + path + "' must be a section, found " + overlay.found());
    }
    read_part({own, path, entry.position, others}, spec, problems_);
    const std::vector<GridPoint> grid = grid_of(taken(overlay, "axes"), path + ".axes", problems_);
    if (spec.published.size() > 1 && spec.published.size() != grid.size()) {
      problems_.add(entry.position,
                    "'" + path + ".published' must be one number, or one for each point of its axes");
      spec.published.clear();
    }
    for (std::size_t i = 0; i < grid.size(); ++i)
      for (const GridPoint& outer : study_grid) add_arm(entry, spec, overlay, grid[i], i, outer);
  }

  void add_arm(const ConfigNode::Entry& entry, const ArmSpec& spec, const ConfigNode& overlay,
               const GridPoint& inner, std::size_t index, const GridPoint& outer) {
    Arm arm;
    arm.name = entry.key + inner.suffix() + outer.suffix();
    names_.add(arm.name, entry.key);
    arm.spec = spec;
    arm.position = entry.position;
    arm.baseline = outer.suffix();  // completed when all are known
    if (!spec.published.empty()) arm.published = spec.published[spec.published.size() == 1 ? 0 : index];
    arm.point = inner.values;
    arm.point.insert(arm.point.end(), outer.values.begin(), outer.values.end());
    arm.tree = tree_;
    if (overlay.type == ConfigNode::Type::map) arm.tree.add(overlay);
    for (const auto* grid : {&inner, &outer})
      for (const ConfigNode& layer : grid->layers) arm.tree.add(layer);
    if (spec.untrained) {
      arm.spec.control = true;
      arm.spec.rates.clear();
      arm.tree.add(untrained_overlay(arm.tree, entry.position));
    }
    const auto checked = std::make_unique<ExperimentSpec>();
    read_spec(arm.tree, *checked, problems_);
    arm.starts_from = start_of(arm, checked->model.from);
    if (runs(arm.name)) problems_.add(entry.position, "two arms have the name '" + arm.name + "'");
    study_.arms.push_back(std::move(arm));
  }

  SourcePosition place_of(const char* key) const {
    const ConfigNode::Entry* entry = node_.find(key);
    return entry ? entry->position : start_;
  }

  void select() {
    names_known_ = problems_.empty();
    if (!names_known_) return;
    StudySpec& spec = study_.spec;
    spec.only = arms_meant(spec.only, "study.only", place_of("only"));
    spec.without = arms_meant(spec.without, "study.without", place_of("without"));
    if (!spec.baseline.empty() && !names_.has(spec.baseline))
      problems_.add(place_of("baseline"), names_.unknown("study.baseline", spec.baseline));
    if (spec.baseline.empty()) spec.baseline = study_.arms.front().name;
    const auto in = [](const std::vector<std::string>& list, const std::string& name) {
      return std::find(list.begin(), list.end(), name) != list.end();
    };
    const std::vector<Arm> all = study_.arms;
    for (Arm& arm : study_.arms)
      arm.kept_only = (!spec.only.empty() && !in(spec.only, arm.name)) || in(spec.without, arm.name);
    std::erase_if(study_.arms, [&](const Arm& arm) { return arm.kept_only && !in(kept_, arm.name); });
    select_preparations(all);
  }

  // With axes over the whole study, each arm is compared with the baseline at its own point.
  void set_baselines() {
    if (!problems_.empty()) return;
    const Arm* first = study_.find(study_.spec.baseline);
    const std::string end = first ? first->baseline : "";
    const std::string stem = study_.spec.baseline.substr(0, study_.spec.baseline.size() - end.size());
    for (Arm& arm : study_.arms) {
      const Arm* own = study_.find(stem + arm.baseline);
      arm.baseline = own ? own->name : study_.spec.baseline;
    }
  }

  void throw_problems() const {
    if (!problems_.empty()) throw ConfigError(problems_.text(order_));
  }

  Tree tree_;
  std::vector<std::string> order_, kept_;
  ConfigNode node_;
  SourcePosition start_;
  Study study_;
  ArmNames names_;
  bool names_known_ = false;  // all was read, so that what names arms can be checked
  Problems problems_;
};

}  // namespace

Tree Arm::configuration(std::int64_t seed, std::optional<double> rate) const {
  Tree result = tree;
  result.add(assignment("seed", number_node(std::to_string(seed), position)));
  if (rate) result.add(assignment("train.learning_rate", number_node(number_text(*rate), position)));
  return result;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name[0] != '.' && name != "study" && name != "prepared" &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
         });
}

const Arm* Study::find(std::string_view name) const {
  const auto found =
      std::find_if(arms.begin(), arms.end(), [name](const Arm& arm) { return arm.name == name; });
  return found == arms.end() ? nullptr : &*found;
}

std::string Study::error_about(const std::string& key) const {
  const auto place = places.find(key);
  return (place == places.end() ? "" : place->second.text() + ": ") + "error: 'study." + key + "'";
}

bool is_study(const Tree& tree) { return tree.where("study").has_value(); }

Study read_study(Tree tree, bool quick, const std::vector<std::string>& kept) {
  return Reader(std::move(tree), quick, kept).read();
}

std::unique_ptr<ExperimentSpec> experiment_of(const Tree& tree) {
  auto spec = std::make_unique<ExperimentSpec>();
  read_spec(tree, *spec);
  return spec;
}

}  // namespace attnlab
