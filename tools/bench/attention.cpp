// attnlab bench attention: the cores of the registered kinds, forward and backward, against length, without
// the projections around them; and how time and memory grow.
#include <algorithm>

#include "attention/attention.h"
#include "bench/measuring.h"
#include "core/parallel.h"
#include "core/pool.h"
#include "study/statistics.h"

namespace attnlab {
namespace {

struct Options : MeasureOptions {
  std::vector<std::string> kinds;
  std::vector<Index> lengths{1024, 2048, 4096, 8192, 16384};
  Index batch = 1, heads = 8, width = 64;
  bool causal = false, full = false, forward_only = false;
  int repeat = 5;
  double most_seconds = 60;
};

Tensor random_rows(const Shape& shape, DType type, std::uint64_t number) {
  const Tensor wide(shape, DType::f32);
  const Random random(3, stream_name("bench attention"), number);
  parallel_for(wide.count(), 1 << 14, [&wide, &random](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      wide.data<float>()[i] = static_cast<float>(random.normal(static_cast<std::uint64_t>(i)));
  });
  return type == DType::f32 ? wide : wide.converted(type);
}

// One kind at one length, with random queries, keys and values.
class Core {
 public:
  Core(const AttentionSpec& spec, const Options& options, Index length, bool causal)
      : type_(options.apply()), forward_only_(options.forward_only) {
    const AttentionShape shape{options.heads, options.width, options.width, length, 0, causal};
    kind_ = spec.build(Scope{parameters_, init_, "attention"}, shape);
    parameters_.finalise(type_, 1, [](const Parameter&) { return true; });
    mask_.queries = mask_.keys = Sequences::equal(options.batch, length);
    mask_.causal = causal;
    const Shape rows{options.batch * length, options.heads * options.width};
    const Projections wanted = kind_->projections();
    if (wanted.query) query_ = random_rows(rows, type_, 0);
    if (wanted.key && !wanted.shared_query_key) key_ = random_rows(rows, type_, 1);
    if (wanted.value) value_ = random_rows(rows, type_, 2);
    shared_ = wanted.shared_query_key;
    gradient_ = Tensor::filled(rows, type_, 1);
  }

  void pass() {
    Tape tape({.training = !forward_only_});
    const auto input = [&tape](const Tensor& rows) { return rows ? tape.variable(rows) : Var(); };
    HeadRows rows{input(query_), input(key_), input(value_)};
    if (shared_) rows.key = rows.query;
    parameters_.begin_window();
    const Var y = kind_->forward(tape, rows, mask_);
    if (!forward_only_) tape.backward(y, gradient_);
  }

  DType type() const { return type_; }

 private:
  DType type_;
  bool forward_only_, shared_ = false;
  InitSpec init_;
  ParameterSet parameters_;
  std::unique_ptr<AttentionKind> kind_;
  Mask mask_;
  Tensor query_, key_, value_, gradient_;
};

Record measure(const std::string& name, const Options& options, Index length, bool causal) {
  Core core(*Registry<AttentionSpec>::make(name), options, length, causal);
  const auto live = Pool::global().counters().live_bytes;
  const double before = peak_rss_gb();
  const auto seconds = timed([&core] { core.pass(); }, 1, options.repeat, options.most_seconds / 4);
  Record row{{"kind", name},
             {"length", length},
             {"batch", options.batch},
             {"heads", options.heads},
             {"width", options.width},
             {"causal", causal},
             {"backward", !options.forward_only},
             {"precision", to_string(core.type())},
             {"threads", static_cast<Index>(thread_count())}};
  append_times(seconds, row);
  row.set("peak_growth_mb", rounded((peak_rss_gb() - before) * 1e3, 3));
  row.set("tensors_mb", rounded(static_cast<double>(Pool::global().counters().peak_bytes - live) / 1e6, 3));
  return row;
}

// A length twice as long may take four times as long and as much memory; stop before that hurts.
bool too_much(const Record& last, Index length, const Options& options) {
  const double longer = static_cast<double>(length) / last.number("length");
  const double seconds = last.number("median_s") * longer * longer;
  const double gigabytes = last.number("tensors_mb") * longer * longer / 1e3;
  return seconds > options.most_seconds || gigabytes > available_memory_gb() / 2;
}

void measure_kind(const std::string& name, const Options& options, bool causal, ResultTable& results) {
  std::vector<double> lengths, seconds, bytes;
  Record row;
  for (const Index length : options.lengths) {
    if (!row.fields().empty() && too_much(row, length, options)) break;
    row = measured_apart([&] { return measure(name, options, length, causal); });
    results.row(row);
    lengths.push_back(static_cast<double>(length));
    seconds.push_back(row.number("median_s"));
    bytes.push_back(std::max(row.number("tensors_mb"), 1e-6));
  }
  if (lengths.size() < 2) return;
  results.row({{"kind", name},
               {"from", lengths.front()},
               {"to", lengths.back()},
               {"causal", causal},
               {"precision", *row.find("precision")},
               {"time_slope", rounded(log_log_slope(lengths, seconds), 3)},
               {"memory_slope", rounded(log_log_slope(lengths, bytes), 3)}});
}

int run(Options options) {
  std::vector<std::string> kinds = options.kinds;
  if (kinds.empty())
    for (const auto& kind : Registry<AttentionSpec>::list()) kinds.push_back(kind.name);
  std::sort(options.lengths.begin(), options.lengths.end());
  ResultTable results(options.json);
  for (const std::string& name : kinds) {
    const Promises promises = Registry<AttentionSpec>::make(name)->promises();
    if (options.kinds.empty() && name == "none") continue;  // it has no core
    if (!options.causal) measure_kind(name, options, false, results);
    if (!options.full && promises.causal) measure_kind(name, options, true, results);
  }
  return 0;
}

const Benchmark benchmark{
    "attention", "attention of every kind against length, forward and backward", [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      options->declare(app);
      app.add_option("--kind", options->kinds, "only these");
      app.add_option("--lengths", options->lengths, "tokens of a sentence")->capture_default_str();
      app.add_option("--batch", options->batch, "sentences")->capture_default_str();
      app.add_option("--heads", options->heads, "of a kind")->capture_default_str();
      app.add_option("--width", options->width, "of a head")->capture_default_str();
      auto* causal = app.add_flag("--causal", options->causal, "only with the future hidden");
      app.add_flag("--full", options->full, "only with everything visible")->excludes(causal);
      app.add_flag("--forward-only", options->forward_only, "without backward");
      app.add_option("--repeat", options->repeat, "passes that are timed")->capture_default_str();
      app.add_option("--most-seconds", options->most_seconds, "longer passes are left out")
          ->capture_default_str();
      return [options] { return run(*options); };
    }};

}  // namespace
}  // namespace attnlab
