#include "study/study.h"

#include <fstream>

#include "config/error.h"
#include "core/error.h"
#include "study/axes.h"
#include "study/baselines.h"
#include "study/expectation_record.h"
#include "study/identity.h"
#include "study/small_experiment.h"
#include "support/catch.h"
#include "support/scratch.h"
#include "train/durable_file.h"

using namespace attnlab;

namespace {

const std::string kBase = kSmallExperiment + "study:\n  name: tried\n";

Study read(const std::string& rest, bool quick = false) {
  return read_study(Tree::parse(kBase + rest, "s.yaml"), quick);
}

std::string refusal(const std::string& rest) {
  try {
    read(rest);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::vector<std::string> names(const Study& study) {
  std::vector<std::string> list;
  for (const Arm& arm : study.arms) list.push_back(arm.name);
  return list;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("arms are overlays; axes make grids of them") {
  const Study study = read(R"(
  axes: {train.batch_tokens: [100, 200]}
  arms:
    base:
    small: {model: {width: 8}, axes: {model.layers: {from: 1, to: 3, step: 2}}}
)");
  CHECK(names(study) ==
        Names{"base-100", "base-200", "small-1-100", "small-1-200", "small-3-100", "small-3-200"});
  const auto spec = experiment_of(study.find("small-3-200")->configuration(7, 0.5));
  CHECK(spec->model.width == 8);
  CHECK(spec->model.stack.layers == 3);
  CHECK(spec->train.batch_tokens == 200);
  CHECK(spec->seed == 7);
  CHECK(spec->train.learning_rate == 0.5);
  CHECK(study.find("small-3-200")->baseline == "base-200");
  CHECK(study.find("small-3-100")->baseline == "base-100");
}

TEST_CASE("the name of an arm with axes stands for all arms that they make") {
  const std::string arms =
      "  arms: {base: {}, deep: {axes: {model.layers: [2, 3]}}, wide: {model: {width: 8}}}\n";
  CHECK(names(read(arms + "  only: [base, deep]\n")) == Names{"base", "deep-2", "deep-3"});
  CHECK(names(read(arms + "  without: [deep]\n")) == Names{"base", "wide"});
  const Study probed = read(arms + "  probes: {maps: {probe: attention_maps, arms: [deep, wide]}}\n");
  CHECK(probed.probes[0].arms == Names{"deep-2", "deep-3", "wide"});
  // Where a single arm is needed, its members are named.
  CHECK(refusal(arms + "  baseline: deep\n")
            .find("'study.baseline': no arm has the name 'deep'; it is a family of arms: deep-2, deep-3") !=
        std::string::npos);
  CHECK(refusal(arms + "  expect: {good: {kind: band, arm: deep, at_least: 0}}\n").find("deep-2, deep-3") !=
        std::string::npos);
  CHECK(refusal(arms + "  only: [dep-2]\n").find("did you mean 'deep-2'?") != std::string::npos);
}

TEST_CASE("arms that are left out stay where results of them are kept") {
  const std::string text = std::string(kBase) +
                           "  arms: {a: {}, b: {model: {width: 8}}, c: {model: {width: 12}}}\n  only: [b]\n"
                           "  expect: {worse: {kind: difference, arm: b, to: a, at_most: 0}}\n";
  CHECK(names(read_study(Tree::parse(text, "s.yaml"), false)) == Names{"b"});
  const Study study = read_study(Tree::parse(text, "s.yaml"), false, {"a", "gone"});
  CHECK(names(study) == Names{"a", "b"});
  CHECK(study.find("a")->kept_only);
  CHECK_FALSE(study.find("b")->kept_only);
  CHECK(study.claims.size() == 1);
}

TEST_CASE("an arm that is not trained trains no part at a rate of its own either") {
  const std::string text = std::string(kBase) + "  arms: {a: {untrained: true}}\n";
  const Tree tree =
      Tree::parse("train: {groups: {norms: {learning_rate: 0.1, schedule: noam}}}\n", "base.yaml");
  Tree all = tree;
  all.add(Tree::parse(text, "s.yaml").layers().front());
  const auto spec = experiment_of(read_study(all, false).arms[0].tree);
  CHECK(*spec->train.groups.norms.learning_rate == 1e-30);
  CHECK(Registry<ScheduleSpec>::name_of(*spec->train.groups.norms.schedule) == "constant");
  CHECK_FALSE(spec->train.groups.mlp.set());
}

TEST_CASE("ranges are linear or logarithmic, and read as a person meant them") {
  const auto values = [](RangeSpec range) { return range.values(); };
  CHECK(values({.from = 1, .to = 2, .step = 0.25}) == std::vector<double>{1, 1.25, 1.5, 1.75, 2});
  CHECK(values({.from = 1e-4, .to = 1e-2, .count = 3, .log = true}) == std::vector<double>{1e-4, 1e-3, 1e-2});
  CHECK(values({.from = -1, .to = 1, .count = 3}) == std::vector<double>{-1, 0, 1});
}

TEST_CASE("a quick version lies on top, with expectations of its own") {
  const std::string text = R"(
  seeds: [1, 2, 3]
  arms: {base: {}, other: {model: {layers: 2}}}
  expect: {slow: {kind: band, arm: base, at_least: 0}}
  quick:
    train: {max_steps: 5}
    study: {seeds: [1], only: [base], expect: {fast: {kind: band, arm: base, at_least: 0}}}
)";
  CHECK(read(text).claims[0].name == "slow");
  const Study quick = read(text, true);
  CHECK(names(quick) == Names{"base"});
  CHECK(quick.spec.seeds == std::vector<std::int64_t>{1});
  REQUIRE(quick.claims.size() == 1);
  CHECK(quick.claims[0].name == "fast");
  CHECK(*experiment_of(quick.arms[0].tree)->train.max_steps == 5);
  CHECK(quick.folder_name() == "tried-quick");
}

TEST_CASE("a claim is what it says beyond the defaults") {
  const auto hash = [](const std::string& claim) {
    return read("  arms: {base: {}}\n  expect: {c: {kind: band, arm: base, " + claim + "}}\n").claims[0].hash;
  };
  CHECK(hash("at_least: 0") == hash("at_least: 0, every_seed: false, alpha: 0.05"));
  CHECK(hash("at_least: 0") != hash("at_least: 0, every_seed: true"));
  CHECK(hash("at_least: 0") != hash("at_most: 0"));
  CHECK(hash("at_least: 0") != hash("at_least: 0, metric: valid_nll"));
}

TEST_CASE("assignments win over the quick version, and may speak of what it alone has") {
  Tree tree = Tree::parse(std::string(kBase) + R"(
  seeds: [1, 2, 3]
  arms: {base: {}, other: {model: {layers: 2}}}
  quick:
    train: {max_steps: 5, log_every: 4}
    study: {seeds: [1], only: [base], expect: {fast: {kind: band, arm: base, at_least: 0}}}
)",
                          "s.yaml");
  for (const char* assignment : {"train.max_steps=3", "study.only=[]", "study.arms.other.model.layers=3",
                                 "study.quick.train.log_every=2"})
    tree.set(assignment);
  const Study full = read_study(tree, false);
  CHECK(full.spec.seeds == std::vector<std::int64_t>{1, 2, 3});
  CHECK(*experiment_of(full.arms[0].tree)->train.max_steps == 3);
  tree.set("study.expect.fast.at_least=0.5");
  const Study quick = read_study(tree, true);
  CHECK(names(quick) == Names{"base", "other"});
  CHECK(quick.spec.seeds == std::vector<std::int64_t>{1});
  REQUIRE(quick.claims.size() == 1);
  const auto other = experiment_of(quick.arms[1].tree);
  CHECK(*other->train.max_steps == 3);
  CHECK(other->train.log_every == 2);
  CHECK(other->model.stack.layers == 3);
}

TEST_CASE("what is wrong with a study is said with its place, all at once") {
  const std::string text =
      refusal("  arms: {a: {model: {widht: 3}}, b: {axes: {model.layers: []}}, c: {rates: [-1]}}\n");
  CHECK(text.find("s.yaml:7:22: error: unknown key 'model.widht', did you mean 'width'?") !=
        std::string::npos);
  CHECK(text.find("axis without values") != std::string::npos);
  CHECK(text.find("must be above 0") != std::string::npos);
  CHECK(refusal("  arms: {a: {axes: {model.heads: 4}}}\n").find("list of values or a range") !=
        std::string::npos);
  CHECK(refusal("  arms: {a: {controll: true}}\n")
            .find("unknown key 'study.arms.a.controll', did you mean 'control'?") != std::string::npos);
  CHECK(refusal("  arms: {a: {modle: {layers: 1}}}\n").find("did you mean 'model'?") != std::string::npos);
  CHECK(refusal("  arms: {a: 3}\n").find("'study.arms.a' must be a section, found '3'") != std::string::npos);
  CHECK(refusal("  arms: [a]\n").find("section of named arms") != std::string::npos);
  CHECK(refusal("  arms: {a: {axes: {model.layers: [1, 2, 3]}, published: [1, 2]}}\n")
            .find("must be one number") != std::string::npos);
  CHECK(refusal("  arms: {a: {axes: {model.layers: [1, 2]}}}\n"
                "  expect: {up: {kind: slope, arms: [a-1, a-2], over: model.layer, at_least: 0}}\n")
            .find("arm 'a-1' has no value on an axis 'model.layer'; it has model.layers") !=
        std::string::npos);
  CHECK(refusal("  arms: {a: {}}\n  expect: {good: {kind: band, at_least: 0}}\n")
            .find("needs the name of an arm") != std::string::npos);
  CHECK(refusal("  seeds: [1]\n").find("neither arms nor axes") != std::string::npos);
  CHECK(refusal("  arms: {copy: {}}\n  controls: [copy]\n").find("two arms have the name 'copy'") !=
        std::string::npos);
  CHECK(refusal("  arms: {a: {}}\n  rates: {values: [1], seeds: [1]}\n").find("other seeds") !=
        std::string::npos);
  CHECK(refusal("  arms: {a: {}}\n  rates: {values: [1], choose_by: test_bleu}\n")
            .find("test set chooses nothing") != std::string::npos);
  CHECK(refusal("  arms: {a: {}}\n  rates: {values: [1], choose_by: step}\n").empty());
}

TEST_CASE("arms start from prepared runs, which have their own files and keys") {
  const ScratchFolder folder;
  const std::string file = (folder.path() / "body.yaml").string(),
                    study = (folder.path() / "s.yaml").string();
  std::ofstream(file) << "name: body\ndata: {task: made_up_words}\nmodel: {kind: decoder, layers: 2}\n";
  const auto read_at = [&](const std::string& text, bool quick = false) {
    return read_study(Tree::parse(kBase + text, study), quick);
  };
  const std::string text = R"(
  prepare: {body: body.yaml, other: {config: body.yaml, model: {layers: 3}}}
  arms: {a: {model: {from: "prepared:body"}}, b: {model: {from: "prepared:other"}}, c: {}}
  quick:
    train: {max_steps: 5}
    study: {only: [a], prepare: {body: {train: {max_steps: 7}}}}
)";
  const Study full = read_at(text), quick = read_at(text, true);
  REQUIRE(full.preparations.size() == 2);
  CHECK(full.find("a")->starts_from == "body");
  CHECK(full.find("c")->starts_from.empty());
  const auto other = experiment_of(full.preparations[1].tree);
  CHECK(other->model.stack.layers == 3);
  CHECK_FALSE(other->train.max_steps);
  // What no selected arm needs is left out; the keys of --quick are those of the preparation itself.
  REQUIRE(quick.preparations.size() == 1);
  CHECK(*experiment_of(quick.preparations[0].tree)->train.max_steps == 7);

  const auto refused = [&](const std::string& bad) {
    try {
      read_at(bad);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string arm = "  arms: {a: {model: {from: \"prepared:body\"}}}\n";
  CHECK(refused(arm).find(study + ":7:22: error: 'study.prepare' has no run 'body'") != std::string::npos);
  CHECK(refused("  prepare: {bodi: body.yaml}\n" + arm).find("did you mean 'bodi'?") != std::string::npos);
  CHECK(refused("  prepare: {body: gone.yaml}\n" + arm)
            .find(study + ":7:19: error: 'study.prepare.body': there is no file") != std::string::npos);
  CHECK(refused("  prepare: {body: {train: {max_steps: 1}}}\n" + arm).find("needs 'config'") !=
        std::string::npos);
  CHECK(refused("  prepare: {body: body.yaml}\n  arms: {a: {}}\n").find("no arm starts from it") !=
        std::string::npos);
  CHECK(refused("  prepare: {body: {config: body.yaml, model: {widht: 1}}}\n" + arm)
            .find("did you mean 'width'?") != std::string::npos);
  CHECK(refused("  prepare: [body]\n" + arm).find("must be a section of named runs") != std::string::npos);
}

TEST_CASE("the identity of a run is its content, not its name") {
  const auto identity = [](const std::string& assignment) {
    Tree tree = Tree::parse("data: {task: {kind: reverse}}\nmodel: {layers: 1}\n");
    if (!assignment.empty()) tree.set(assignment);
    return identity_of(*experiment_of(tree), "hash");
  };
  const RunIdentity plain = identity("");
  for (const char* same :
       {"name=other", "data.root=/elsewhere", "train.log_every=7", "expect.score=3", "model.layers=1"}) {
    CHECK(identity(same).training == plain.training);
    CHECK(identity(same).scoring == plain.scoring);
  }
  CHECK(identity("decode.beam=9").training == plain.training);
  CHECK(identity("decode.beam=9").scoring != plain.scoring);
  for (const char* other :
       {"seed=2", "model.layers=2", "train.learning_rate=0.1", "model.encoder.layers=2", "precision=f64"})
    CHECK(identity(other).training != plain.training);
  CHECK(plain.code == program_digest());
  CHECK(plain.code.size() == 64);
}

TEST_CASE("baselines from the data: what no model is needed for") {
  const Task task = experiment_of(Tree::parse(R"(
data: {task: {kind: copy, symbols: 3, min_length: 2, max_length: 4, train: 60, valid: 10, test: 10}}
)"))
                        ->data.load();
  const auto all = baselines_of(task);
  REQUIRE(all.size() == 4);
  for (const Baseline& baseline : all) {
    if (baseline.name == "copy") CHECK(baseline.values.number("test_exact_match") == 1);
    if (baseline.name == "majority") CHECK(baseline.values.number("test_exact_match") < 0.5);
    if (baseline.name == "by_position") {
      CHECK(baseline.values.number("valid_accuracy") > 0.3);  // the end is always right
      CHECK(baseline.values.number("valid_accuracy") < 0.9);
    }
    if (baseline.name == "unigram") CHECK(baseline.values.number("valid_perplexity") < 8);
  }
}

TEST_CASE("a claim is set before the run only if no result of its arms was known") {
  const ScratchFolder folder;
  const std::vector<std::filesystem::path> files{folder.path() / "a" / "tried.json",
                                                 folder.path() / "kept.json"};
  const auto claims = [](const std::string& text) { return read(text).claims; };
  const std::string arms = "  arms: {a: {}, b: {model: {layers: 2}}}\n";
  const auto old = claims(arms + "  expect: {old: {kind: band, arm: a, at_least: 0}}\n");
  const auto planned = [](const std::string&, const std::string& run) { return run == "0123456789abcdef"; };
  {
    ExpectationRecord record(files, 2);
    record.note(old, planned);
    record.saw("a", 1, "0123456789abcdef0000");
    record.saw("b", 1, "ffffffffffffffff0000");
    record.write();
  }
  std::filesystem::remove_all(folder.path() / "a");  // the record beside the repository's results lives on
  ExpectationRecord record(files, 1);
  const auto set = [&](const std::string& expectation, const std::string& more = "") {
    const auto added = claims(more + arms + "  expect: {x: " + expectation + "}\n");
    record.note(added, planned);
    return record.set(added[0].hash);
  };
  CHECK(record.set(old[0].hash) == "before the run");
  CHECK(set("{kind: band, arm: a, at_least: 0}") == "after seeing");
  CHECK(set("{kind: band, arm: b, at_least: 0}") == "before these runs, after others of the same arms");
  CHECK(record.set("never noted") == "after seeing");
  // Every part of what is expected counts.
  const std::string hash = claims(arms + "  expect: {x: {kind: difference, arm: b, at_least: 0}}\n")[0].hash;
  for (const char* other : {"  expect: {y: {kind: difference, arm: b, at_least: 0}}\n",
                            "  expect: {x: {kind: difference, arm: b, at_least: 0, alpha: 0.1}}\n",
                            "  expect: {x: {kind: factor, arm: b, at_least: 0}}\n",
                            "  metric: valid_nll\n  expect: {x: {kind: difference, arm: b, at_least: 0}}\n",
                            "  baseline: b\n  expect: {x: {kind: difference, arm: b, at_least: 0}}\n"})
    CHECK(claims(arms + other)[0].hash != hash);
}

TEST_CASE("when a result was first seen is remembered, the earliest time of all files") {
  const ScratchFolder folder;
  const auto record_of = [](std::int64_t time) {
    return R"({"claims": [], "results_seen": [{"arm": "a", "seed": 1, "run": "0123456789abcdef", "first_seen": )" +
           std::to_string(time) + "}]}";
  };
  const std::vector<std::filesystem::path> files{folder.path() / "tried.json", folder.path() / "kept.json"};
  write_durably(files[0], record_of(1700000500));
  write_durably(files[1], record_of(1700000100));
  ExpectationRecord record(files, 2);
  record.saw("a", 1, "0123456789abcdef0000");
  record.write();
  for (const auto& file : files) CHECK(read_small_file(file).find("1700000100") != std::string::npos);
}

TEST_CASE("a verdict says when the code that judges was changed after results were seen") {
  const ScratchFolder folder;
  const auto file = folder.path() / "tried.json";
  const auto claims = read(
                          "  arms: {a: {}, b: {}}\n  expect: {x: {kind: band, arm: a, at_least: 0}, y: "
                          "{kind: band, arm: b, at_least: 0}}\n")
                          .claims;
  const auto planned = [](const std::string&, const std::string&) { return true; };
  {
    ExpectationRecord record({file}, 1);
    record.note(claims, planned);
    record.saw("a", 1, "0123456789abcdef");
    record.write();
  }
  std::string text = read_small_file(file);
  for (std::size_t at; (at = text.find(rule_digest())) != std::string::npos;) text.replace(at, 64, 64, '0');
  write_durably(file, text);
  for (int i = 0; i < 2; ++i) {  // it stays so
    ExpectationRecord record({file}, 1);
    record.note(claims, planned);
    CHECK(record.set(claims[0].hash) == "before the run; the code that judges it changed after seeing");
    CHECK(record.set(claims[1].hash) == "before the run");
    record.write();
  }
  write_durably(file, "{}");
  CHECK_THROWS_AS(ExpectationRecord({file}, 1), IoError);
}
