// Remote homology on made-up files in TAPE's form.
#include "data/proteins.h"

#include "config/error.h"
#include "config/spec.h"
#include "core/error.h"
#include "data/files.h"
#include "data/task_spec.h"
#include "support/catch.h"
#include "support/scratch.h"

using namespace attnlab;

namespace {

std::string protein(const std::string& residues, int fold) {
  return R"({"id": "d1x", "primary": ")" + residues + R"(", "protein_length": )" +
         std::to_string(residues.size()) + R"(, "fold_label": )" + std::to_string(fold) +
         R"(, "family_label": 3, "evolutionary": [[0.5, -1e-3, {"primary": 7, "fold_label": 99}], []], "valid": null})";
}

std::string list(const std::vector<std::string>& items) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ", ") + item;
  return "[" + text + "]";
}

std::string error_of(const std::string& json) {
  try {
    parse_proteins(json, "fold_label", "file");
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("of each protein the residues and one label are read, profiles are passed over") {
  const auto proteins = parse_proteins(list({protein("MKV", 4), protein("A", 0)}), "fold_label", "file");
  REQUIRE(proteins.size() == 2);
  CHECK(proteins[0].residues == "MKV");
  CHECK(proteins[0].label == 4);
  CHECK(proteins[1].label == 0);
  CHECK(parse_proteins(list({protein("MKV", 4)}), "family_label", "file")[0].label == 3);
}

TEST_CASE("damaged files of proteins are refused, by protein") {
  CHECK(error_of("[]").find("no proteins") != std::string::npos);
  CHECK(error_of("7").find("expected a list of objects") != std::string::npos);
  CHECK(error_of(protein("MKV", 4)).find("expected a list") != std::string::npos);
  CHECK(error_of("[1]").find("expected a list") != std::string::npos);
  CHECK(error_of(R"([{"primary": "MK"}])").find("no 'fold_label'") != std::string::npos);
  CHECK(error_of(R"([{"fold_label": 1}])").find("no 'primary'") != std::string::npos);
  CHECK(error_of(list({protein("MKV", 4), protein("mkv", 1)})).find("protein 2: residues must be") !=
        std::string::npos);
  CHECK(error_of(list({protein("MKV", -1)})).find("below zero") != std::string::npos);
  CHECK(error_of(R"([{"primary": "M", "fold_label": 1.5}])").find("no whole number") != std::string::npos);
  CHECK(error_of(R"([{"primary": "M", "fold_label": [1]}])").find("is no number") != std::string::npos);
  CHECK(error_of(R"([{"primary": "M", "fold_label": 4000000000}])").find("a label of") != std::string::npos);
  CHECK(error_of(list({protein("MKV", 4)}).substr(0, 60)).find("no valid JSON") != std::string::npos);
}

TEST_CASE("what is easy is said of the proteins that are scored") {
  const ScratchFolder scratch;
  const auto put = [&scratch](const std::string& name, const std::vector<std::string>& items) {
    write_file(scratch.path() / name, list(items));
  };
  put("train.json", {protein("AAAK", 0), protein("WWWWWWWWWWWW", 1)});  // the second is left out
  put("valid.json", {protein("A", 0)});
  put("test.json", {protein("AAA", 0), protein("WWW", 1), protein("AAAAAAAAAAAA", 0)});  // and the third
  DataSpec spec;
  read_spec(Tree::parse("task: {kind: remote_homology, max_length: 10, folder: '', train: train.json, valid: "
                        "valid.json, tests: [test.json]}\nroot: " +
                        scratch.path().string()),
            spec);
  const Task task = spec.load();
  REQUIRE(task.baselines.size() == 2);
  CHECK(task.tests[0].corpus.examples.size() == 2);
  CHECK(task.baselines[0].score == Approx(0.5));
  CHECK(task.baselines[1].score == Approx(0.5));
}

TEST_CASE("test files of one name are splits of their own, or refused") {
  const ScratchFolder scratch;
  for (const char* file : {"train.json", "valid.json", "test.txt", "remote_homology_test.json", "a/test.json",
                           "b/test.json", "a_test.json"})
    write_file(scratch.path() / file, list({protein("AAK", 0)}));
  const auto names = [&scratch](const std::string& tests) {
    DataSpec spec;
    read_spec(Tree::parse("task: {kind: remote_homology, folder: '', train: train.json, valid: valid.json, "
                          "tests: [" +
                          tests + "]}\nroot: " + scratch.path().string()),
              spec);
    std::string all;
    for (const NamedCorpus& test : spec.load().tests) all += test.name + " ";
    return all;
  };
  CHECK(names("a/test.json, b/test.json") == "a_test b_test ");
  CHECK(names("remote_homology_test.json, a/test.json") == "remote_homology_test a_test ");
  CHECK(names("remote_homology_test.json, a_test.json") == "test a_test ");
  CHECK_THROWS_AS(names("a/test.json, b/test.json, a_test.json"), ConfigError);
  CHECK_THROWS_AS(names("test.txt, a/test.json, a/test.txt"), ConfigError);
}

TEST_CASE("the task has three test splits, leaves out what is too long, and says what is easy") {
  const ScratchFolder scratch;
  const auto folder = scratch.path() / "remote_homology";
  const auto put = [&folder](const std::string& split, const std::vector<std::string>& items) {
    write_file(folder / ("remote_homology_" + split + ".json"), list(items));
  };
  put("train", {protein("AAAK", 0), protein("AAKA", 0), protein("WWWY", 2), protein("CCCCCCCCCCCC", 1)});
  put("valid", {protein("AAA", 0)});
  put("test_fold_holdout", {protein("KAAA", 0), protein("YWWW", 2), protein("WW", 5), protein("AK", 2)});
  put("test_superfamily_holdout", {protein("A", 0)});
  put("test_family_holdout", {protein("Y", 2), protein("MMMMMMMMMMM", 2)});
  DataSpec spec;
  read_spec(Tree::parse("task: {kind: remote_homology, max_length: 10}\nroot: " + scratch.path().string()),
            spec);
  const Task task = spec.load();
  CHECK(task.target->size() == 6);
  CHECK(task.train.examples.size() == 3);
  REQUIRE(task.tests.size() == 3);
  CHECK(task.tests[0].name == "test_fold_holdout");
  CHECK(task.tests[2].corpus.examples.size() == 1);
  CHECK(task.train.examples[0].source.size() == 4);
  CHECK(task.train.examples[0].source[0] != task.train.examples[0].source[3]);
  CHECK(task.train.examples[2].target.back() == 2);
  REQUIRE(task.baselines.size() == 2);
  CHECK(task.baselines[0].score == Approx(0.25));
  CHECK(task.baselines[1].score == Approx(0.5));
  REQUIRE(task.notes.size() == 2);
  CHECK(task.notes[1].find("multiply accuracy by 0.5") != std::string::npos);
}
