// Attentions that are wrong in one way each: the properties must notice. They differ from a right one in what
// they change of the rows, the mask or the result.
#include <cmath>
#include <limits>
#include <regex>

#include "attention/attention.h"
#include "attention/cache.h"
#include "attention/properties.h"
#include "attention/softmax_reference.h"
#include "core/parallel.h"
#include "ops/attend.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "support/catch.h"

using namespace attnlab;

namespace {

class Softmax : public AttentionKind {
 public:
  Softmax(const Scope& scope, const AttentionShape& shape)
      : options{shape.H, 1 / std::sqrt(static_cast<double>(shape.K)), shape.dropout, scope.stream()} {}
  Var forward(Tape&, const HeadRows& rows, const Mask& mask) const override {
    return attend(rows.query, rows.key, rows.value, mask, options);
  }
  std::vector<double> reference(const HeadProblem& problem) const override {
    return softmax_reference(problem, options.scale);
  }
  static Promises promised() { return {}; }
  AttendOptions options;
};

template <class Kind>
struct Spec final : AttentionSpec {
  Promises promises() const override { return Kind::promised(); }
  std::unique_ptr<AttentionKind> build(const Scope& scope, const AttentionShape& shape) const override {
    return std::make_unique<Kind>(scope, shape);
  }
};

// Registers a broken kind and says which property must fail.
struct Broken {
  const char *kind, *property;
  static std::vector<Broken>& all() {
    static std::vector<Broken> table;
    return table;
  }
};
template <class Kind>
struct Breaks {
  Breaks(const char* kind, const char* property) : entry(kind, "deliberately wrong") {
    Broken::all().push_back({kind, property});
  }
  Registered<AttentionSpec, Spec<Kind>> entry;
};

const Registered<AttentionSpec, Spec<Softmax>> right{"broken_in_no_way", "what the others started from"};

// Answers with its own value, whatever else there is; its formula says so too.
struct OwnValue final : Softmax {
  using Softmax::Softmax;
  static Promises promised() { return {.key_permutation = false, .dropout = false, .exact = false}; }
  Var forward(Tape& tape, const HeadRows& rows, const Mask& mask) const override {
    std::vector<std::int32_t> ids(static_cast<std::size_t>(mask.queries.rows()), 0);
    std::vector<double> there(ids.size(), 0.0);
    for (Index b = 0; b < mask.queries.count(); ++b)
      for (Index t = 0; t < mask.queries.length(b); ++t) {
        const Interval seen = mask.visible(b, t);
        if (seen.empty()) continue;
        const auto row = static_cast<std::size_t>(mask.queries.offset(b) + t);
        ids[row] = static_cast<std::int32_t>(mask.keys.offset(b) + seen.end - 1);
        there[row] = 1;
      }
    const DType type = rows.value.type();
    if (rows.value.shape()[0] == 0)
      return tape.constant(Tensor::zeros({mask.queries.rows(), rows.value.shape()[1]}, type));
    const Tensor factor = Tensor::from({mask.queries.rows(), 1}, type, there);
    return add_number(multiply(embedding(rows.value, ids, 1), tape.constant(factor)), 0);  // no -0
  }
  std::vector<double> reference(const HeadProblem& p) const override {
    std::vector<double> result(static_cast<std::size_t>(p.T * p.V), 0.0);
    for (Index t = 0; t < p.T; ++t)
      if (const Interval seen = p.visible(t); !seen.empty())
        std::copy_n(p.value.begin() + (seen.end - 1) * p.V, p.V, result.begin() + t * p.V);
    return result;
  }
};
const Breaks<OwnValue> own_value{"broken_own_value", "dependence"};

template <class Change>
struct OtherMask final : Softmax {
  using Softmax::Softmax;
  Var forward(Tape& tape, const HeadRows& rows, const Mask& mask) const override {
    Mask other = mask;
    Change::apply(other);
    return Softmax::forward(tape, rows, other);
  }
};
struct SeeFuture {
  static void apply(Mask& mask) { mask.causal = false; }
};
const Breaks<OtherMask<SeeFuture>> future{"broken_sees_future", "causality"};
struct SeeHidden {
  static void apply(Mask& mask) {
    mask.band = -1;
    mask.intervals.clear();
  }
};
const Breaks<OtherMask<SeeHidden>> hidden{"broken_sees_hidden_keys", "dependence"};
struct SeePadding {
  static void apply(Mask& mask) { mask.keys.lengths.clear(); }
};
const Breaks<OtherMask<SeePadding>> padding{"broken_sees_padding", "padded places"};
struct ForgetRow {
  static void apply(Mask& mask) { mask.queries.first_row = 0; }
};
const Breaks<OtherMask<ForgetRow>> forget_row{"broken_dropout_by_batch_row", "dropout"};

template <class Change>
struct OtherQuery final : Softmax {
  using Softmax::Softmax;
  Var forward(Tape& tape, const HeadRows& rows, const Mask& mask) const override {
    const Var query = scale(rows.query, Change::factor(rows, mask));
    return Softmax::forward(tape, {query, rows.key, rows.value}, mask);
  }
};
struct ByCount {
  static double factor(const HeadRows&, const Mask& mask) {
    return 1 + 1e-3 * static_cast<double>(mask.queries.count());
  }
};
const Breaks<OtherQuery<ByCount>> by_count{"broken_by_neighbours", "batch invariance"};
struct ByFirst {
  static double factor(const HeadRows&, const Mask& mask) {
    return 1 + 1e-3 * static_cast<double>(mask.keys.length(0));
  }
};
const Breaks<OtherQuery<ByFirst>> by_first{"broken_by_first_sentence", "batch order"};
struct ByLength {
  static double factor(const HeadRows&, const Mask& mask) {
    return 1 + 1e-3 * static_cast<double>(mask.queries.longest());
  }
};
const Breaks<OtherQuery<ByLength>> by_length{"broken_by_number_of_queries", "query subset"};
struct ByType {
  static double factor(const HeadRows& rows, const Mask&) {
    return rows.query.type() == DType::f32 ? 1.001 : 1;
  }
};
const Breaks<OtherQuery<ByType>> by_type{"broken_in_f32", "near f64 in f32"};
struct ByNarrowType {
  static double factor(const HeadRows& rows, const Mask&) { return rows.query.type() == DType::bf16 ? 2 : 1; }
};
const Breaks<OtherQuery<ByNarrowType>> by_narrow_type{"broken_in_bf16", "near f64 in bf16"};
struct ByThreads {
  static double factor(const HeadRows&, const Mask&) { return 1 + 1e-3 * thread_count(); }
};
const Breaks<OtherQuery<ByThreads>> by_threads{"broken_by_threads", "same bits for any threads"};
struct Blind {
  static double factor(const HeadRows&, const Mask&) { return 0; }
};
const Breaks<OtherQuery<Blind>> blind{"broken_uniform", "formula"};

// Drops no weights, though it promises to.
struct ForgetsDropout final : Softmax {
  ForgetsDropout(const Scope& scope, const AttentionShape& shape) : Softmax(scope, shape) {
    options.dropout = 0;
  }
};
const Breaks<ForgetsDropout> forgets_dropout{"broken_forgets_dropout", "dropout"};

// Drops weights, though it says that it has none to drop.
struct DropsUnasked final : Softmax {
  using Softmax::Softmax;
  static Promises promised() { return {.dropout = false}; }
};
const Breaks<DropsUnasked> drops_unasked{"broken_drops_unasked", "dropout"};

// Half of its weight goes to all visible keys alike; its formula says so too.
struct HalfUniform final : Softmax {
  using Softmax::Softmax;
  Var forward(Tape& tape, const HeadRows& rows, const Mask& mask) const override {
    AttendOptions alike = options;
    alike.scale = 0;
    const Var mean = attend(rows.query, rows.key, rows.value, mask, alike);
    return scale(add(Softmax::forward(tape, rows, mask), mean), 0.5);
  }
  std::vector<double> reference(const HeadProblem& problem) const override {
    auto result = Softmax::reference(problem);
    const auto mean = softmax_reference(problem, 0);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = (result[i] + mean[i]) / 2;
    return result;
  }
};
const Breaks<HalfUniform> half_uniform{"broken_half_uniform", "exact"};

// The second of its rows is NaN.
struct NaNInARow final : Softmax {
  using Softmax::Softmax;
  Var forward(Tape& tape, const HeadRows& rows, const Mask& mask) const override {
    const Var out = Softmax::forward(tape, rows, mask);
    std::vector<double> factors(static_cast<std::size_t>(out.shape()[0]), 1.0);
    if (factors.size() > 1) factors[1] = std::numeric_limits<double>::quiet_NaN();
    return multiply(out, tape.constant(Tensor::from({out.shape()[0], 1}, out.type(), factors)));
  }
};
const Breaks<NaNInARow> nan_in_a_row{"broken_nan", "formula"};

// Right values, gradients one percent too large.
const Op kWrong{"test: wrong gradient"};
struct WrongGradient final : Softmax {
  using Softmax::Softmax;
  Var forward(Tape& tape, const HeadRows& rows, const Mask& mask) const override {
    const Var out = Softmax::forward(tape, rows, mask);
    return record(kWrong, {out}, out.value(), [](Gradients& g) {
      Tensor dx = g.out().clone();
      dispatch(dx.type(), [&dx](auto zero) {
        using T = decltype(zero);
        for (T& v : dx.values<T>()) v = static_cast<T>(1.01 * static_cast<double>(v));
      });
      g.give(0, dx);
    });
  }
};
const Breaks<WrongGradient> wrong_gradient{"broken_gradient", "gradients"};

// Not zero where nothing is visible, and its formula says so too.
struct NeverZero final : Softmax {
  using Softmax::Softmax;
  Var forward(Tape& tape, const HeadRows& rows, const Mask& mask) const override {
    return add_number(Softmax::forward(tape, rows, mask), 0.1);
  }
  std::vector<double> reference(const HeadProblem& problem) const override {
    auto result = Softmax::reference(problem);
    for (double& x : result) x += 0.1;
    return result;
  }
};
const Breaks<NeverZero> never_zero{"broken_never_zero", "nothing to see"};

// Sees its neighbours only, which it does not say.
struct Nearsighted final : Softmax {
  using Softmax::Softmax;
  Var forward(Tape& tape, const HeadRows& rows, const Mask& mask) const override {
    Mask near = mask;
    near.band = 1;
    return Softmax::forward(tape, rows, near);
  }
};
const Breaks<Nearsighted> nearsighted{"broken_nearsighted", "key order"};

// Decodes from the new rows alone.
struct NoMemory final : Softmax {
  using Softmax::Softmax;
  Var step(Tape& tape, const HeadRows& rows, const Mask& mask, AttentionState&) const override {
    Mask alone = mask;
    alone.past.clear();
    return forward(tape, rows, alone);
  }
};
const Breaks<NoMemory> no_memory{"broken_without_memory", "incremental"};

// Keeps the keys of the wrong hypotheses.
struct Stubborn final : Softmax {
  using Softmax::Softmax;
  struct State final : AttentionState {
    explicit State(Index count) : cache(count) {}
    void reorder(const std::vector<Index>& parents) override {
      std::vector<Index> rotated = parents;
      for (Index& parent : rotated) parent = parents.front();
      cache.reorder(rotated);
    }
    std::size_t bytes() const override { return cache.bytes(); }
    KeyValueCache cache;
  };
  std::unique_ptr<AttentionState> start(Index count) const override { return std::make_unique<State>(count); }
  Var step(Tape& tape, const HeadRows& rows, const Mask& mask, AttentionState& state) const override {
    return Softmax::step(tape, rows, mask, dynamic_cast<State&>(state).cache);
  }
};
const Breaks<Stubborn> stubborn{"broken_reorder", "incremental"};

// Closes no gate: half of each head's columns are its neighbour's.
struct MixesHeads final : Softmax {
  using Softmax::Softmax;
  Var forward(Tape& tape, const HeadRows& rows, const Mask& mask) const override {
    AttendOptions other = options;
    other.heads = 1;
    (void)tape;
    return attend(rows.query, rows.key, rows.value, mask, other);
  }
};
const Breaks<MixesHeads> mixes_heads{"broken_mixes_heads", "formula"};

// Has a key that is read into nothing.
struct DeadKeySpec final : AttentionSpec {
  std::int64_t sharpness = 4;
  void own_fields(Fields& f) override {
    std::int64_t copy = sharpness;
    f("sharpness", copy, at_least(1), "goes nowhere");
  }
  std::unique_ptr<AttentionKind> build(const Scope& scope, const AttentionShape& shape) const override {
    return std::make_unique<Softmax>(scope, shape);
  }
};
const Registered<AttentionSpec, DeadKeySpec> dead_key{"broken_dead_key", "deliberately wrong"};

PropertyResult result_of(const std::string& kind, const std::string& property) {
  return check_attention(kind, property).at(0);
}

}  // namespace

TEST_CASE("each broken attention fails the property that is about its fault") {
  for (const Broken& broken : Broken::all()) {
    const PropertyResult result = result_of(broken.kind, broken.property);
    INFO(broken.kind << ", " << broken.property << ": " << to_string(result.outcome) << ", "
                     << result.details);
    CHECK(result.outcome == Outcome::failed);
    CHECK_FALSE(result.details.empty());
  }
  CHECK(result_of("broken_dead_key", "config round trip").outcome == Outcome::failed);
}

TEST_CASE("what the broken ones started from is right") {
  CHECK(none_failed(check_attention("broken_in_no_way")));
}

TEST_CASE("returning one's own value passes all but the dependence") {
  for (const PropertyResult& result : check_attention("broken_own_value")) {
    INFO(result.property << ": " << result.details);
    CHECK((result.outcome == Outcome::failed) == (result.property == "dependence"));
  }
}

TEST_CASE("a mixture with the mean passes all but being exact") {
  for (const PropertyResult& result : check_attention("broken_half_uniform")) {
    INFO(result.property << ": " << result.details);
    CHECK((result.outcome == Outcome::failed) == (result.property == "exact"));
  }
  CHECK(result_of("broken_uniform", "exact").outcome == Outcome::failed);
}

TEST_CASE("a broken promise of dropout names the rate") {
  for (const char* kind : {"broken_forgets_dropout", "broken_drops_unasked"})
    CHECK_THAT(result_of(kind, "dropout").details, containing("shape.dropout changes"));
}

TEST_CASE("what is not finite is said first, with its place") {
  for (const PropertyResult& result : check_attention("broken_nan")) {
    if (result.property == "config round trip") continue;  // no numbers
    INFO(result.property << ": " << result.details);
    CHECK(result.outcome == Outcome::failed);
    CHECK(result.details.starts_with("not finite: "));
    CHECK(std::isinf(result.worst));
  }
  CHECK_THAT(result_of("broken_nan", "formula").details,
             containing("not finite: self, sentence 0, row 1, column 0 is NaN"));
  CHECK_THAT(result_of("broken_nan", "gradients").details,
             containing("not finite: self, output, row 1, column 0 is NaN"));
}

TEST_CASE("a wrong gradient is told by its element and both derivatives") {
  const std::string details = result_of("broken_gradient", "gradients").details;
  INFO(details);
  const std::regex form(R"(self, gradient of \S+, element \d+.*: numeric (\S+), computed (\S+): error .*)");
  std::smatch found;
  REQUIRE(std::regex_match(details, found, form));
  CHECK(std::stod(found[2]) / std::stod(found[1]) == Approx(1.01).epsilon(1e-3));
}
