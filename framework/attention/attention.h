// The contract of an attention kind. Shared code (multi_head.h) owns the projections, head split, gates,
// dropout rates and output projection; a kind implements the core: projected rows of queries, keys and values
// to rows of heads. A new kind is one .cpp file with a spec, a core and a registration; `attnlab check
// attention NAME` holds it to its promises.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/registry.h"
#include "core/mask.h"
#include "nn/scope.h"

namespace attnlab {

// What a kind says of itself. The property tests hold it to each `true`, and check of a `false` that asking
// for it is refused cleanly; of `dropout`, that the rate changes nothing, since one rate serves a whole
// model.
struct Promises {
  bool causal = true;     // may hide the future
  bool intervals = true;  // may hide any keys (bands, explicit intervals), not only those beyond the sentence
  bool incremental = true;      // rows one at a time give the rows of the whole
  bool query_subset = true;     // a subset of the queries gives the same rows
  bool key_permutation = true;  // permuting keys with their values changes nothing
  bool dependence = true;       // every visible token can change the output
  bool dropout = true;          // drops attention weights in training, at the rate AttentionShape::dropout
  bool exact = true;            // a softmax over dot products, with one factor a head, and nothing else
  std::string cost = "T S";     // class of time
};

// What surrounds the core, fixed when the model is built.
struct AttentionShape {
  Index H = 1, K = 1, V = 1;  // heads, width of a query and key, width of a value, per head
  Index longest = 512;        // no sentence is longer (positions.max_length): for learned length projections
  double dropout = 0;         // on the attention weights
  bool causal = false;
};

// Projected rows: query [N, H*K], key [M, H*K], value [M, H*V]; parts that projections() declines are empty
// Vars. They may be column views of wider matrices.
struct HeadRows {
  Var query, key, value;
};

// Which projections the shared code makes.
struct Projections {
  bool query = true, key = true, value = true;
  bool shared_query_key = false;  // one map serves queries and keys
  bool output = true;             // false: the attention adds nothing at all (the control `none`)
};

// One head of one sentence in f64, for the naive twin.
struct HeadProblem {
  Index T, S, K, V, head;
  std::vector<double> query, key, value;     // [T, K], [S, K], [S, V]
  std::function<Interval(Index t)> visible;  // keys that query t may see
  Index past = 0;                            // position of query 0; key s has position s
};

// What is carried from step to step when queries come a few at a time (decoding).
class AttentionState {
 public:
  virtual ~AttentionState() = default;
  // Hypothesis i goes on from what was hypothesis parents[i]; the count may change.
  virtual void reorder(const std::vector<Index>& parents) = 0;
  virtual std::size_t bytes() const = 0;
};

class AttentionKind {
 public:
  virtual ~AttentionKind() = default;
  virtual Projections projections() const { return {}; }
  // Rows [N, H*V]; N = mask.queries.rows(). A query that sees nothing gives a zero row and no gradient.
  virtual Var forward(Tape& tape, const HeadRows& rows, const Mask& mask) const = 0;
  // What queries can see of what the mask lets them see, for probes: the band of a window. Everything by
  // default.
  virtual Mask narrowed(const Mask& mask) const { return mask; }
  // The formula in plain loops over one head of one sentence -> [T, V]: the naive twin that tests compare
  // with.
  virtual std::vector<double> reference(const HeadProblem& problem) const = 0;
  // Incremental use: an empty state for `count` hypotheses, and the rows of new queries whose keys and values
  // come with them. mask.past says how many positions came before; mask.keys is that of the new rows. The
  // default keeps all keys and values and calls forward(); a kind with a smaller state overrides both.
  virtual std::unique_ptr<AttentionState> start(Index count) const;
  virtual Var step(Tape& tape, const HeadRows& rows, const Mask& mask, AttentionState& state) const;
};

// The keys under `attention:` and `cross_attention:`. A kind derives its own spec and adds its keys in
// own_fields().
struct AttentionSpec {
  static constexpr const char* kRegistry = "attention";
  std::optional<std::int64_t> heads, key_width, value_width;  // unset: model.heads, width / heads, key_width
  std::optional<std::int64_t> key_value_heads;                // unset: as many as heads

  virtual ~AttentionSpec() = default;
  void fields(Fields& f);
  virtual void own_fields(Fields&) {}
  virtual Promises promises() const { return {}; }
  virtual std::unique_ptr<AttentionKind> build(const Scope& scope, const AttentionShape& shape) const = 0;
};

}  // namespace attnlab
