#include "train/window.h"

namespace attnlab {
namespace {

LossSums sums_of(const CrossEntropy& loss, const Batch& batch) {
  return {loss.smoothed_sum, loss.nll_sum, batch.target_tokens(), batch.source_rows.rows(), loss.correct};
}

}  // namespace

LossSums window_gradient(BuiltModel& built, const std::vector<Batch>& pieces, const WindowOptions& options) {
  Index tokens = 0;
  for (const Batch& piece : pieces) tokens += piece.target_tokens();
  built.parameters.begin_window();
  LossSums sums;
  for (const Batch& piece : pieces) {
    Tape tape({.seed = options.seed,
               .step = static_cast<std::uint64_t>(options.step),
               .find_nan = options.find_nan});
    const CrossEntropy loss = built.model->loss(
        tape, input_of(piece, built.model->spec().kind),
        {options.smoothing, options.support, static_cast<double>(std::max<Index>(tokens, 1))});
    tape.backward(loss.loss);
    sums.add(sums_of(loss, piece));
  }
  built.parameters.finish_window();
  return sums;
}

LossSums batch_loss(const BuiltModel& built, const Batch& batch, const WindowOptions& options) {
  Tape tape({.training = false, .find_nan = options.find_nan});
  return sums_of(built.model->loss(tape, input_of(batch, built.model->spec().kind),
                                   {options.smoothing, options.support, 1}),
                 batch);
}

}  // namespace attnlab
