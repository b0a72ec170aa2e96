// Ragged batches: token rows of all sentences one after another and the offset of each; no padding. Which
// examples make which batch is a pure function of (seed, epoch), so that a position (epoch, batch) is all
// that a resumed run needs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/sequences.h"
#include "core/tensor.h"
#include "data/example.h"

namespace attnlab {

struct Batch {
  std::vector<Token> source;      // source_rows.rows() ids; none for a language model
  Sequences source_rows;          // one entry a sentence; of length 0 for a language model
  std::vector<float> vectors;     // of source_rows.rows() rows, where the task's input are vectors
  std::vector<Token> target_in;   // what the decoder reads
  std::vector<Token> target_out;  // what it should say, row by row
  Sequences target_rows;
  std::vector<Index> examples;  // index of each sentence in its split
  Tensor features;  // rows that a model's head maps, where they were computed before (train/features.h)
  Index sentences() const { return target_rows.count(); }
  Index target_tokens() const { return target_rows.rows(); }
};

// The chosen examples as one batch, in the given order.
Batch gather(const std::vector<Example>& examples, std::span<const Index> chosen);

// The same in `pieces` micro-batches of almost equally many sentences (fewer when there are fewer sentences).
// Rows of earlier pieces are counted in `first_row`, so that dropout draws as in the whole batch.
std::vector<Batch> gather_pieces(const std::vector<Example>& examples, std::span<const Index> chosen,
                                 Index pieces);

struct BatchOptions {
  Index tokens = 4096;   // target rows of a batch at most; an example longer than that is a batch of its own
  bool bucketed = true;  // sentences of like length together
  bool shuffled = true;  // anew in every epoch; otherwise in the order of the examples (or of their lengths)
  std::uint64_t seed = 1;
};

using BatchLists = std::vector<std::vector<Index>>;

// Every example once, cut into batches. Pure function of its arguments.
BatchLists plan_batches(const std::vector<Example>& examples, const BatchOptions& options, Index epoch);

// What the same batches would carry if they were padded to their longest sentence.
struct PaddingReport {
  Index source_rows = 0, source_padded = 0, target_rows = 0, target_padded = 0;
  double source_share() const { return share(source_rows, source_padded); }  // padding / padded rows
  double target_share() const { return share(target_rows, target_padded); }
  double share() const { return share(source_rows + target_rows, source_padded + target_padded); }

 private:
  static double share(Index rows, Index padded) {
    return padded == 0 ? 0 : 1 - static_cast<double>(rows) / static_cast<double>(padded);
  }
};
PaddingReport padding_avoided(const std::vector<Example>& examples, const BatchLists& batches);

struct BatchPosition {
  Index epoch = 0, batch = 0;
  bool operator==(const BatchPosition&) const = default;
};

// The endless sequence of batches of a training run. Holds a reference to the examples.
class BatchStream {
 public:
  // Throws DataError without examples.
  BatchStream(const std::vector<Example>& examples, BatchOptions options);
  // The examples of the batch at `position()`, which then moves on.
  std::vector<Index> next();
  BatchPosition position() const { return position_; }
  // Goes to any position. Throws DataError if the epoch has no such batch: the corpus or the options differ.
  void seek(BatchPosition position);
  Index batches_in_epoch() const { return static_cast<Index>(plan_.size()); }
  const BatchLists& epoch_batches() const { return plan_; }

 private:
  const std::vector<Example>& examples_;
  BatchOptions options_;
  BatchPosition position_;
  BatchLists plan_;
};

}  // namespace attnlab
