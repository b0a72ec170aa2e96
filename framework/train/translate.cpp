#include "train/translate.h"

#include <algorithm>

#include "data/framed_text.h"

namespace attnlab {
namespace {

using Ids = std::vector<Token>;

std::string one_line(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n')
      result += "\\n";
    else
      result += c;
  }
  return result;
}

// What ended lines in training: a line break, or </s>. Where no task says it (published models), a line break
// if the vocabulary has it.
bool begins_with_newline(const TrainedModel& trained) {
  if (const auto& task = trained.spec->data.task) return task->ends_lines_with_newline();
  const Tokenizer& words = *trained.target;
  return words.decode(words.encode("\n")) == "\n";
}

// Running text begins after the end of a line.
Ids prompt_of(const TrainedModel& trained, const std::string& line) {
  const Tokenizer& words = *trained.target;
  if (begins_with_newline(trained)) return words.encode("\n" + line);
  Ids ids{words.eos()};
  for (const Token token : words.encode(line)) ids.push_back(token);
  return ids;
}

// What is written follows the end of the prompt. It takes its room from the prompt, but not more than half.
bool cut_prompt(Ids& prompt, std::optional<Index> room, Index max_extra) {
  if (!room || static_cast<Index>(prompt.size()) <= *room) return false;
  const Index kept =
      std::max(*room - max_extra + 1, (*room + 1) / 2);  // the last token written is never read
  prompt.erase(prompt.begin(), prompt.end() - static_cast<std::ptrdiff_t>(kept));
  return true;
}

// `line`: all of it, also where the model read its end alone.
std::string text_of(const TrainedModel& trained, const std::string& line, const Hypothesis& hypothesis) {
  if (trained.source) return one_line(trained.target->decode(hypothesis.ids));
  Ids all = prompt_of(trained, line);
  all.insert(all.end(), hypothesis.ids.begin(), hypothesis.ids.end());
  std::string text = trained.target->decode(all);
  if (begins_with_newline(trained) && text.starts_with('\n')) text.erase(0, 1);  // of prompt_of
  return one_line(text);
}

}  // namespace

std::vector<std::vector<TextHypothesis>> translate_lines(const TrainedModel& trained,
                                                         const std::vector<std::string>& lines,
                                                         Index first_line, std::vector<Index>* cut_lines) {
  std::vector<std::vector<TextHypothesis>> results(lines.size(), {TextHypothesis{}});
  const ExperimentSpec& spec = *trained.spec;
  const LongestInput longest = longest_input(spec.model);
  std::vector<Ids> inputs;
  std::vector<Index> places;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Ids ids = trained.source ? trained.source->encode(lines[i]) : prompt_of(trained, lines[i]);
    if (trained.source && ids.empty()) continue;
    if (trained.source) ids.push_back(trained.source->eos());
    const auto place = static_cast<Index>(i);
    const bool cut = trained.source ? cut_to_room(ids, longest.source, trained.source->eos())
                                    : cut_prompt(ids, longest.target, spec.decode.max_extra);
    if (cut && cut_lines) cut_lines->push_back(first_line + place + 1);
    inputs.push_back(std::move(ids));
    places.push_back(place);
  }
  DecodeOptions options = decode_options(spec.decode, *trained.target, static_cast<std::uint64_t>(spec.seed));
  for (const Index place : places) options.sentences.push_back(first_line + place);
  const auto decoded = decode(trained.model(), inputs, options);
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    const auto place = static_cast<std::size_t>(places[i]);
    auto& result = results[place];
    result.clear();
    for (const Hypothesis& hypothesis : decoded[i])
      result.push_back({text_of(trained, lines[place], hypothesis), hypothesis.score});
  }
  return results;
}

}  // namespace attnlab
