#include "train/translate.h"

#include <filesystem>
#include <fstream>

#include "config/spec.h"
#include "data/tokenizer_spec.h"
#include "support/catch.h"
#include "support/scratch.h"
#include "train/checkpoint_store.h"

using namespace attnlab;

namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

constexpr const char* kTranslator =
    "precision: f32\nmodel: {width: 16, heads: 2, layers: 1, feed_forward: 16}\n"
    "decode: {beam: 3}\ndata: {task: {kind: reverse, train: 20, valid: 5, test: 5}}\n";
constexpr const char* kWriter =
    "precision: f32\nmodel: {kind: decoder, width: 16, heads: 2, layers: 1, feed_forward: 16}\n"
    "decode: {beam: 1, max_extra: 6}\n";

// A run folder with as many checkpoints of different random weights.
void make_run(const fs::path& folder, const std::string& config, const Tokenizer& words, Index checkpoints) {
  auto spec = std::make_unique<ExperimentSpec>();
  read_spec(Tree::parse(config), *spec);
  const bool writer = !spec->model.has_encoder();
  fs::create_directories(folder);
  std::ofstream(folder / "config.yaml") << config;
  save_tokenizer(folder / "vocabulary", "target", words);
  if (!writer) save_tokenizer(folder / "vocabulary", "source", words);
  CheckpointStore store(folder / "checkpoints", {.keep_last = checkpoints, .keep_best = 1});
  for (Index step = 1; step <= checkpoints; ++step) {
    spec->seed = step;
    const auto built =
        build_model(*spec, {writer ? 0 : words.size(), words.size(), !writer}, DType::f32, false);
    TrainingState state;
    state.step = step;
    store.save(built->parameters, nullptr, state, step == 2 ? 0.5 : 1.0);  // lower is better
  }
}

std::shared_ptr<const Tokenizer> digits() {
  return learned_tokenizer(*Registry<TokenizerSpec>::make("word"), {"0 1 2 3 4 5 6 7 8 9"}, {});
}

std::vector<double> numbers(const TrainedModel& trained) {
  return trained.built->parameters.values().to_doubles();
}

struct TokenizerHolder {
  std::shared_ptr<TokenizerSpec> tokenizer;
  void fields(Fields& f) { f.kind("tokenizer", tokenizer, "test"); }
};

Lines first_texts(const std::vector<std::vector<TextHypothesis>>& lists) {
  Lines texts;
  for (const auto& list : lists) texts.push_back(list.front().text);
  return texts;
}

}  // namespace

TEST_CASE("a run folder gives its best weights, a checkpoint its own, an average their mean") {
  const ScratchFolder scratch;
  const fs::path run = scratch.path() / "run";
  make_run(run, kTranslator, *digits(), 3);
  const TrainedModel best = load_trained_model(run);
  CHECK(best.weights == "checkpoint step-2");
  CHECK(best.source == best.target);
  CHECK(best.target->decode(best.target->encode("3 1 4")) == "3 1 4");
  CHECK(numbers(best) == numbers(load_trained_model(run / "checkpoints" / "step-2")));
  CHECK(numbers(best) == numbers(load_trained_model(run / "checkpoints" / "best" / "")));
  CHECK(load_trained_model(run / "checkpoints" / "last").weights == "checkpoint last");
  CHECK(numbers(best) != numbers(load_trained_model(run / "checkpoints" / "last")));

  const TrainedModel mean = load_trained_model(run, {"train.average_last=2"});
  CHECK(mean.weights == "mean of the last 2 checkpoints");
  const auto second = numbers(best), third = numbers(load_trained_model(run / "checkpoints" / "step-3"));
  const auto got = numbers(mean);
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    worst = std::max(worst, std::abs(got[i] - (second[i] + third[i]) / 2));
  CHECK(worst < 1e-7);
}

TEST_CASE("what is no run folder, or a damaged one, is named") {
  const ScratchFolder scratch;
  const fs::path run = scratch.path() / "run";
  const auto message = [](const fs::path& path, const Lines& assignments = {}) -> std::string {
    try {
      load_trained_model(path, assignments);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message(run).find("no such run folder") != std::string::npos);
  CHECK(message(scratch.path()).find("no config.yaml") != std::string::npos);
  make_run(run, kTranslator, *digits(), 1);
  CHECK(message(run, {"decode.baem=3"}).find("beam") != std::string::npos);
  CHECK(message(run, {"model.width=32"}).find("shape") != std::string::npos);
  fs::resize_file(run / "checkpoints" / "step-1" / "model.safetensors", 100);
  CHECK(message(run).find("model.safetensors") != std::string::npos);
  fs::remove_all(run / "checkpoints");
  CHECK(message(run).find("no checkpoint") != std::string::npos);
}

TEST_CASE("lines in, as many lines out, in any company") {
  const ScratchFolder scratch;
  make_run(scratch.path() / "run", kTranslator, *digits(), 1);
  const TrainedModel trained = load_trained_model(scratch.path() / "run", {"decode.n_best=2"});
  const Lines lines{"1 2 3", "", "4", "   ", "9 9 9 9 9 9 9 9", "unknown words", "4"};
  const auto lists = translate_lines(trained, lines);
  REQUIRE(lists.size() == lines.size());
  const Lines texts = first_texts(lists);
  CHECK((texts[1].empty() && texts[3].empty()));
  CHECK(lists[1].size() == 1);
  CHECK(lists[0].size() == 2);
  CHECK(lists[0][0].score >= lists[0][1].score);
  CHECK(texts[2] == texts[6]);
  for (std::size_t i = 0; i < lines.size(); ++i)
    CHECK(first_texts(translate_lines(trained, {lines[i]})).front() == texts[i]);

  const TrainedModel sampler = load_trained_model(scratch.path() / "run", {"decode.sample=true"});
  const Lines drawn = first_texts(translate_lines(sampler, lines));
  const Lines end(lines.begin() + 4, lines.end());
  CHECK(first_texts(translate_lines(sampler, end, 4)) == Lines(drawn.begin() + 4, drawn.end()));
  CHECK(drawn[2] != drawn[6]);
}

TEST_CASE("overlong lines are cut to learned positions, and said to be") {
  const ScratchFolder scratch;
  make_run(scratch.path() / "run", std::string(kTranslator) + "name: x\n", *digits(), 1);
  const std::string learned =
      "{width: 16, heads: 2, layers: 1, feed_forward: 16, "
      "positions: {kind: learned, max_length: 4}}";
  make_run(scratch.path() / "short", "precision: f32\nmodel: " + learned + "\n", *digits(), 1);
  const TrainedModel trained = load_trained_model(scratch.path() / "short");
  std::vector<Index> cut;
  const auto lists = translate_lines(trained, {"1 2 3", "1 2 3 4", "1 2 3 5 6"}, 10, &cut);
  CHECK(cut == std::vector<Index>{12, 13});
  CHECK(first_texts(lists)[1] == first_texts(lists)[2]);
}

TEST_CASE("overlong lines are cut to length maps, too") {
  const ScratchFolder scratch;
  make_run(scratch.path() / "run",
           "precision: f32\nmodel: {width: 16, heads: 2, layers: 1, feed_forward: 16, encoder: {attention: "
           "linformer}, positions: {max_length: 4}}\n",
           *digits(), 1);
  std::vector<Index> cut;
  const auto lists =
      translate_lines(load_trained_model(scratch.path() / "run"), {"1 2 3", "1 2 3 4"}, 0, &cut);
  CHECK(cut == std::vector<Index>{2});
  CHECK(first_texts(lists)[0] == first_texts(lists)[1]);
}

TEST_CASE("of overlong prompts a language model reads the end, and keeps the whole line") {
  const ScratchFolder scratch;
  const auto letters = learned_tokenizer(*Registry<TokenizerSpec>::make("character"), {"abc d\n"}, {});
  make_run(scratch.path() / "run",
           "precision: f32\nmodel: {kind: decoder, width: 16, heads: 2, layers: 1, feed_forward: 16, "
           "positions: {kind: learned, max_length: 9}}\ndecode: {beam: 1, max_extra: 5}\n",
           *letters, 1);
  const TrainedModel trained = load_trained_model(scratch.path() / "run");
  std::vector<Index> cut;
  const std::string end = "bcabc";  // 5 letters: 9 positions, of which what is written wants 4
  const Lines lines{"abc", "aaaaa" + end, "dddddddd" + end};
  const Lines texts = first_texts(translate_lines(trained, lines, 0, &cut));
  CHECK(cut == std::vector<Index>{2, 3});
  for (std::size_t i = 0; i < lines.size(); ++i) CHECK(texts[i].rfind(lines[i], 0) == 0);
  CHECK(texts[1].substr(lines[1].size()) == texts[2].substr(lines[2].size()));
}

TEST_CASE("a prompt begins with what ended the lines of the task, whatever the vocabulary could write") {
  const ScratchFolder scratch;
  const std::string tokenizer =
      "{kind: byte_pairs, path: '" ATTNLAB_SOURCE_DIR "/tests/golden/tokenizers/byte_pairs'}";
  TokenizerHolder holder;
  read_spec(Tree::parse("tokenizer: " + tokenizer), holder);
  const auto words = learned_tokenizer(*holder.tokenizer, {}, {});
  REQUIRE(words->decode(words->encode("\n")) == "\n");
  const auto trained_on = [&](const std::string& line_end) {
    const std::string task = "{kind: text, line_end: " + line_end + ", tokenizer: " + tokenizer + "}";
    make_run(scratch.path() / line_end, std::string(kWriter) + "data: {task: " + task + "}\n", *words, 1);
    return load_trained_model(scratch.path() / line_end);
  };
  const TrainedModel symbol = trained_on("symbol"), newline = trained_on("newline");
  REQUIRE(numbers(symbol) == numbers(newline));
  const auto score_after = [&](const std::vector<Token>& prompt) {
    return decode(symbol.model(), {prompt}, decode_options(symbol.spec->decode, *words, 1))[0][0].score;
  };
  std::vector<Token> after_end{words->eos()};
  for (const Token token : words->encode("ab")) after_end.push_back(token);
  const TextHypothesis behind_end = translate_lines(symbol, {"ab"})[0][0],
                       behind_break = translate_lines(newline, {"ab"})[0][0];
  CHECK(behind_end.score == score_after(after_end));
  CHECK(behind_break.score == score_after(words->encode("\nab")));
  CHECK(behind_end.score != behind_break.score);
  CHECK(behind_end.text.starts_with("ab"));
  CHECK(behind_break.text.starts_with("ab"));
}

TEST_CASE("a language model goes on from its lines") {
  const ScratchFolder scratch;
  const auto letters = learned_tokenizer(*Registry<TokenizerSpec>::make("character"), {"abc d\n"}, {});
  make_run(scratch.path() / "run", kWriter, *letters, 1);
  const TrainedModel trained = load_trained_model(scratch.path() / "run");
  const Lines texts = first_texts(translate_lines(trained, {"abc", "", "a d"}));
  CHECK(texts[0].rfind("abc", 0) == 0);
  CHECK(texts[2].rfind("a d", 0) == 0);
  for (const std::string& text : texts) CHECK(text.find('\n') == std::string::npos);
}
