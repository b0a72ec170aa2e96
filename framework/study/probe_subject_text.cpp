// Lines of one's own as sentences to probe.
#include "config/error.h"
#include "data/labels.h"
#include "data/unknown_pieces.h"
#include "study/probe_subject.h"
#include "train/decode.h"
#include "train/log.h"
#include "train/predict.h"
#include "train/scoring.h"

namespace attnlab {
namespace {

struct TextLine {
  std::string name, source;
  std::optional<std::string> target;
};

TextLine text_line(const std::string& line, std::size_t number) {
  const std::size_t tab = line.find('\t');
  TextLine result{join_text("line ", number, " of the text"), line.substr(0, tab), {}};
  if (tab != std::string::npos) result.target = line.substr(tab + 1);
  return result;
}

// What the model itself says to a source, framed as a target.
std::vector<Token> own_target(const TrainedModel& trained, const std::vector<Token>& source) {
  const Tokenizer& words = *trained.target;
  const auto decoded = decode(trained.model(), {source}, decode_options(trained.spec->decode, words, 1));
  std::vector<Token> ids{words.bos()};
  ids.insert(ids.end(), decoded.front().front().ids.begin(), decoded.front().front().ids.end());
  ids.push_back(words.eos());
  return ids;
}

std::vector<Token> own_label(const TrainedModel& trained, Example example) {
  example.target = label_target({0});
  return label_target(classify(trained.model(), {std::move(example)}).front());
}

Example labelled_example(const TrainedModel& trained, const TextLine& line) {
  Example example;
  try {
    FramedText text = read_line(trained, line.source);
    if (text.cut) log_warning(line.name + " is longer than what the model reads of a text; cut");
    example.source = std::move(text.ids);
    if (line.target) example.target = label_target(trained.target->encode(*line.target));
  } catch (const DataError& error) {
    throw DataError(line.name + ": " + error.what());
  }
  if (example.source.empty()) throw DataError(line.name + " has no words");
  if (!line.target) example.target = own_label(trained, example);
  return example;
}

Example text_example(const TrainedModel& trained, const std::string& whole, const TextLine& line) {
  if (trained.model().spec().pooled()) return labelled_example(trained, line);
  Example example;
  if (!trained.source) {
    example.target = target_ids(*trained.target, whole);
    if (example.target_rows() < 2) throw DataError(line.name + " has no words");
    return example;
  }
  example.source = source_ids(*trained.source, line.source);
  if (example.source_rows() < 2) throw DataError(line.name + " has no words");
  example.target =
      line.target ? target_ids(*trained.target, *line.target) : own_target(trained, example.source);
  if (!trained.model().spec().has_decoder() && example.source_rows() != example.target_rows())
    throw DataError(join_text(line.name, " has ", example.source_rows(), " source tokens, but ",
                              example.target_rows(), " labels"));
  return example;
}

}  // namespace

Corpus text_corpus(const TrainedModel& trained, const std::vector<std::string>& lines) {
  if (trained.model().spec().pooled())
    if (const std::string reason = label_refusal(trained); !reason.empty())
      throw ConfigError("error: text of one's own: " + reason);
  Corpus corpus;
  UnknownPieces unknown(trained.source ? *trained.source : *trained.target);
  for (const std::string& whole : lines) {
    const TextLine line = text_line(whole, corpus.examples.size() + 1);
    unknown.count(trained.source ? line.source : whole);
    corpus.examples.push_back(text_example(trained, whole, line));
    corpus.sources.push_back(line.source);
    if (line.target) corpus.references.push_back(*line.target);
  }
  if (const std::string text = unknown.text(); !text.empty()) log_warning(text);
  const std::size_t without = corpus.examples.size() - corpus.references.size();
  if (without == 0) return corpus;
  corpus.references.clear();
  if (trained.source)
    log_info(join_text(without, " of ", lines.size(),
                       " lines of the text have no target; what the model says itself stands for it"));
  return corpus;
}

}  // namespace attnlab
