// Narrow formats near the f64 twin with the same weights and inputs; the same bits for any number of threads.
#include <algorithm>
#include <cmath>

#include "attention/properties_compare.h"
#include "core/parallel.h"

namespace attnlab {
namespace {

// What a type may cost. Errors are relative to the largest element of a tensor. The bound grows for a problem
// that is sensitive by itself: to `kSensitivity` times what rounding all that goes in does to the f64 result.
struct Allowance {
  DType type;
  double bound, rounding;
};
constexpr Allowance kF32{DType::f32, 1e-5, 0x1p-24}, kBf16{DType::bf16, 5e-2, 0x1p-9};
constexpr double kSensitivity = 16;

Tensor widened(const Tensor& x) { return x ? x.converted(DType::f64) : Tensor(); }

Problem widened(const Problem& problem) {
  return {problem.level,        problem.mask,           widened(problem.query),
          widened(problem.key), widened(problem.value), widened(problem.d_output)};
}

void copy_weights(const Rig& from, const Rig& to) {
  for (std::size_t i = 0; i < from.parameters.all().size(); ++i)
    to.parameters.all()[i]->value().copy_from(widened(from.parameters.all()[i]->compute()));
}

double largest(const Tensor& x) {
  double most = 0;
  for (const double value : x.to_doubles()) most = std::max(most, std::abs(value));
  return most;
}

struct Difference {
  std::string of;
  double error;
};

// Parameters: relative to the tensor's own size or a tenth of the largest of all, since a sum that should
// vanish (a key's bias shifts all logits of a query alike) has no size of its own.
void add_parameters(const Run& run, const Run& wide, const Rig& rig, std::vector<Difference>& all) {
  double of_all = 1e-30;
  for (const Tensor& gradient : wide.d_parameters) of_all = std::max(of_all, largest(gradient));
  for (std::size_t i = 0; i < run.d_parameters.size(); ++i) {
    const double own = std::max(largest(wide.d_parameters[i]), 1e-30);
    const double error = distance(run.d_parameters[i], wide.d_parameters[i]);
    all.push_back(
        {"gradient of " + rig.parameters.all()[i]->name(), error * own / std::max(own, 0.1 * of_all)});
  }
}

std::vector<Difference> differences(const Run& run, const Run& wide, const Rig& rig) {
  std::vector<Difference> all{{"output", distance(run.output, wide.output)}};
  const auto add = [&all](const Tensor& x, const Tensor& y, const char* of) {
    if (x) all.push_back({of, distance(x, y)});
  };
  add(run.d_query, wide.d_query, "gradient of queries");
  add(run.d_key, wide.d_key, "gradient of keys");
  add(run.d_value, wide.d_value, "gradient of values");
  add_parameters(run, wide, rig, all);
  return all;
}

// Each element times 1 + rounding * (a random number from [-1, 1]).
Tensor nudged(const Tensor& x, double rounding, const std::string& name) {
  if (!x) return {};
  const Random random(29, stream_name(name));
  std::vector<double> values = x.to_doubles();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= 1 + rounding * (2 * random.uniform(i) - 1);
  return Tensor::from(x.shape(), DType::f64, values);
}

Run run_nudged(Rig& rig, const Problem& problem, double rounding, const std::string& draw) {
  const auto rows = [&](const Tensor& x, const char* of) { return nudged(x, rounding, draw + of); };
  std::vector<Tensor> kept;
  for (const auto& parameter : rig.parameters.all()) {
    kept.push_back(parameter->value().clone());
    parameter->value().copy_from(nudged(kept.back(), rounding, draw + parameter->name()));
  }
  const Run result =
      run(rig, {problem.level, problem.mask, rows(problem.query, "query"), rows(problem.key, "key"),
                rows(problem.value, "value"), rows(problem.d_output, "gradient")});
  for (std::size_t i = 0; i < kept.size(); ++i) rig.parameters.all()[i]->value().copy_from(kept[i]);
  return result;
}

void compare_types(Rig& narrow, Rig& wide, const Problem& problem, const Allowance& allowance,
                   Verdict& verdict, const std::string& where) {
  const Problem same = widened(problem);
  const Run expected = run(wide, same);
  const Run result = run(narrow, problem);
  if (!check_finite(verdict, narrow, result, where)) return;
  if (!check_finite(verdict, wide, expected, where + ", the f64 twin")) return;
  const auto errors = differences(result, expected, narrow);
  std::vector<double> responses(errors.size(), 0.0);
  for (const char* draw : {"first ", "second "}) {
    const auto moved = differences(run_nudged(wide, same, allowance.rounding, draw), expected, narrow);
    for (std::size_t i = 0; i < moved.size(); ++i) responses[i] = std::max(responses[i], moved[i].error);
  }
  for (std::size_t i = 0; i < errors.size(); ++i)
    verdict.measure(errors[i].error, std::max(allowance.bound, kSensitivity * responses[i]),
                    where + ", " + errors[i].of);
}

void test_type(const Subject& subject, const Allowance& allowance, Verdict& verdict) {
  for (const bool large : {false, true})
    for (const Situation& situation :
         large ? large_situations(subject.promises()) : small_situations(subject.promises())) {
      Rig narrow(subject, situation.plan(allowance.type, large)),
          wide(subject, situation.plan(DType::f64, large));
      copy_weights(narrow, wide);
      for (const Level level : levels(narrow))
        compare_types(narrow, wide, draw_problem(narrow, level, situation), allowance, verdict,
                      situation.name + (level == Level::core ? " at the core" : ""));
    }
}

void test_f32(const Subject& subject, Verdict& verdict) { test_type(subject, kF32, verdict); }
void test_bf16(const Subject& subject, Verdict& verdict) { test_type(subject, kBf16, verdict); }

// Puts the number of threads back, whatever happens.
class ThreadCount {
 public:
  ThreadCount() : before_(thread_count()) {}
  ~ThreadCount() { set_thread_count(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

void test_threads(const Subject& subject, Verdict& verdict) {
  const ThreadCount guard;
  for (const Situation& situation : large_situations(subject.promises()))
    for (const DType type : kTypes) {
      Rig rig(subject, situation.plan(type, true));
      const Problem problem = draw_problem(rig, Level::whole, situation);
      set_thread_count(1);
      const Run one = run(rig, problem);
      for (const int threads : {2, 3, 7}) {
        set_thread_count(threads);
        const Run many = run(rig, problem);
        const std::string where =
            situation.name + " in " + to_string(type) + ", " + std::to_string(threads) + " threads";
        compare(verdict, many.output, one.output, 0, where);
        compare(verdict, many.d_query, one.d_query, 0, where + ", gradient of queries");
        if (one.d_key) compare(verdict, many.d_key, one.d_key, 0, where + ", memory");
        for (std::size_t i = 0; i < one.d_parameters.size(); ++i)
          compare(verdict, many.d_parameters[i], one.d_parameters[i], 0,
                  where + ", gradient of " + rig.parameters.all()[i]->name());
      }
    }
}

const Property f32{"near f64 in f32", test_f32};
const Property bf16{"near f64 in bf16", test_bf16};
const Property threads{"same bits for any threads", test_threads};

}  // namespace
}  // namespace attnlab
