#include "study/layer_outputs.h"

namespace attnlab {
namespace {

RowMatrix sentence_rows(const Tensor& rows, const Sequences& places, Index b) {
  return {places.length(b), rows.columns(), rows.row_view(places.offset(b), places.length(b)).to_doubles()};
}

}  // namespace

bool has_layers(const ModelSpec& spec) {
  return (spec.has_encoder() && spec.encoder.layers > 0) || (spec.has_decoder() && spec.decoder.layers > 0);
}

std::vector<const Stack*> stacks_of(const Transformer& model) {
  std::vector<const Stack*> stacks;
  for (const Stack* stack : {model.encoder(), model.decoder()})
    if (stack != nullptr) stacks.push_back(stack);
  return stacks;
}

void for_each_stream(ProbeSubject& subject,
                     const std::function<void(const StreamPlace&, const RowMatrix&)>& use) {
  Recorder seen(subject.model, [](const std::string&, std::string_view what) {
    return what == "input" || what == "output";
  });
  for_each_batch(subject, [&](const ModelInput& input, Index first) {
    Tape tape({.training = false});
    subject.model.hidden(tape, input);
    for (const Stack* stack : stacks_of(subject.model)) {
      const Sequences& places = rows_read(subject.model.spec(), stack == subject.model.decoder(), input);
      const std::vector<std::string> paths = stack->layer_paths();
      for (Index l = 0; l <= std::ssize(paths); ++l) {
        const Tensor& rows = l == 0 ? seen.at(stack->path(), "input")
                                    : seen.at(paths[static_cast<std::size_t>(l - 1)], "output");
        for (Index b = 0; b < places.count(); ++b)
          use({stack->path(), l, first + b}, sentence_rows(rows, places, b));
      }
    }
  });
}

}  // namespace attnlab
