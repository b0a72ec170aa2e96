// Text in, labels out: what a trained classifier says of lines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/framed_text.h"
#include "train/trained_model.h"

namespace attnlab {

// Why the model does not label lines of text; empty if it does.
std::string label_refusal(const TrainedModel& trained);

// What the model reads of a line: as its task shows it examples, and no more than it has room for. No ids for
// a line without words. Only where label_refusal() is empty. Throws DataError for symbols that the task's
// texts do not have.
FramedText read_line(const TrainedModel& trained, const std::string& line);

struct Prediction {
  std::optional<Token> label;         // the most likely one, of trained.target; none for a line without words
  std::vector<double> probabilities;  // of all labels in their order; none, likewise
};

// One prediction a line, in order; those of other lines change nothing. `first_line` counts the lines of
// earlier calls. The numbers of lines of which the model reads a part go to `cut_lines` (from 1). Throws
// ConfigError with the refusal, DataError as read_line() does, with the line's number; DivergedError where
// the model gives no numbers.
std::vector<Prediction> predict_lines(const TrainedModel& trained, const std::vector<std::string>& lines,
                                      Index first_line = 0, std::vector<Index>* cut_lines = nullptr);

}  // namespace attnlab
