// Text in, text out: what a trained model makes of lines.
#pragma once

#include <string>
#include <vector>

#include "train/decode.h"
#include "train/trained_model.h"

namespace attnlab {

struct TextHypothesis {
  std::string text;  // one line: line breaks are written \n
  double score = 0;
};

// decode() of each line, in order, as text; `first_line` counts the lines of earlier calls, so that sampling
// goes on where it was. A line without words gives one empty hypothesis. A language model goes on from its
// lines, which stand in front of the texts, and may begin with nothing; first it reads what ended lines in
// training. Sources that the model has no room for are cut, prompts to their end; the numbers of such lines
// go to `cut_lines` (from 1).
std::vector<std::vector<TextHypothesis>> translate_lines(const TrainedModel& trained,
                                                         const std::vector<std::string>& lines,
                                                         Index first_line = 0,
                                                         std::vector<Index>* cut_lines = nullptr);

}  // namespace attnlab
