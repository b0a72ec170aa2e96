#include "study/study_schema.h"

#include "study/expectation.h"
#include "study/probe_use.h"
#include "study/study_spec.h"

namespace attnlab {
namespace {

struct AnyExpectation {
  std::shared_ptr<ExpectationSpec> expectation;
  void fields(Fields& f) { f.kind("NAME", expectation, "a falsifiable claim about the arms"); }
};

struct PreparationKeys {
  std::string config;
  void fields(Fields& f) { f("config", config, "file of the run, relative to the one that names it"); }
};

void add(std::vector<FieldDoc>& all, const std::string& prefix, std::vector<FieldDoc> fields) {
  for (FieldDoc& field : fields) {
    field.path = prefix + field.path;
    if (!field.when.empty()) field.when = prefix + field.when;
    all.push_back(std::move(field));
  }
}

FieldDoc section(const std::string& path, const std::string& doc) {
  FieldDoc field;
  field.path = path;
  field.type = "section";
  field.doc = doc;
  return field;
}

}  // namespace

std::vector<FieldDoc> study_schema() {
  std::vector<FieldDoc> all;
  add(all, "study.", describe(StudySpec()));
  all.push_back(
      section("study.arms.NAME", "an arm: keys of the experiment on top of the file's, and those below"));
  add(all, "study.arms.NAME.", describe(ArmSpec()));
  for (const char* path : {"study.arms.NAME.axes", "study.axes"}) {
    all.push_back(section(path, "keys with lists or ranges of values; one arm for each combination"));
    all.push_back(section(std::string(path) + ".KEY", "a list of values, or a range:"));
    add(all, std::string(path) + ".KEY.", describe(RangeSpec()));
  }
  all.push_back(
      section("study.prepare.NAME",
              "a run that is there before the arms, which start from it with model.from: prepared:NAME; "
              "its file, or a section: keys on top of the file's, and"));
  add(all, "study.prepare.NAME.", describe(PreparationKeys()));
  all.push_back(
      section("study.probes",
              "what is measured of every finished run, by name; its numbers are metrics, NAME.number (their "
              "names stand in `results --csv`, after --quick for instance)"));
  ProbeUse probe;
  add(all, "study.probes.NAME.", describe(probe));
  all.push_back(section("study.expect", "claims with names"));
  add(all, "study.expect.", describe(AnyExpectation()));
  all.push_back(
      section("study.quick", "what --quick puts on top: keys of the experiment, and a section study"));
  return all;
}

}  // namespace attnlab
