// Narrow formats near the f64 twin with the same weights and inputs; the same bits for any number of threads.
#include <algorithm>
#include <cmath>

#include "attention/properties_problem.h"
#include "attention/properties_table.h"
#include "core/parallel.h"

namespace attnlab {
namespace {

// Errors are relative to the largest element of a tensor.
constexpr double kF32Bound = 1e-5, kBf16Bound = 5e-2;

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

// Relative to the tensor's own size or a tenth of the largest of all parameters: a sum that should vanish (a
// key's bias shifts all logits of a query alike) has no size of its own.
void compare_parameters(const Run& narrow, const Run& wide, double bound, Verdict& verdict, const Rig& rig,
                        const std::string& where) {
  double of_all = 1e-30;
  for (const Tensor& gradient : wide.d_parameters) of_all = std::max(of_all, largest(gradient));
  for (std::size_t i = 0; i < narrow.d_parameters.size(); ++i) {
    const double own = largest(wide.d_parameters[i]);
    const double error = distance(narrow.d_parameters[i], wide.d_parameters[i]);
    verdict.measure(error == 0 ? 0 : error * std::max(own, 1e-30) / std::max(own, 0.1 * of_all), bound,
                    where + ", gradient of " + rig.parameters.all()[i]->name());
  }
}

void compare_rows(const Run& narrow, const Run& wide, double bound, Verdict& verdict,
                  const std::string& where) {
  const auto one = [&](const Tensor& x, const Tensor& y, const char* what) {
    if (x) verdict.measure(distance(x, y), bound, where + ", " + what);
  };
  one(narrow.output, wide.output, "output");
  one(narrow.d_query, wide.d_query, "gradient of queries");
  one(narrow.d_key, wide.d_key, "gradient of keys");
  one(narrow.d_value, wide.d_value, "gradient of values");
}

void test_type(const Subject& subject, DType type, double bound, Verdict& verdict) {
  for (const bool large : {false, true})
    for (const Situation& situation :
         large ? large_situations(subject.promises()) : small_situations(subject.promises())) {
      Rig narrow(subject, situation.plan(type, large)), wide(subject, situation.plan(DType::f64, large));
      copy_weights(narrow, wide);
      for (const Level level : levels(narrow)) {
        const Problem problem = draw_problem(narrow, level, situation);
        const std::string where = situation.name + (level == Level::core ? " at the core" : "");
        const Run got = run(narrow, problem), expected = run(wide, widened(problem));
        compare_rows(got, expected, bound, verdict, where);
        compare_parameters(got, expected, bound, verdict, narrow, where);
      }
    }
}

void test_f32(const Subject& subject, Verdict& verdict) {
  test_type(subject, DType::f32, kF32Bound, verdict);
}
void test_bf16(const Subject& subject, Verdict& verdict) {
  test_type(subject, DType::bf16, kBf16Bound, verdict);
}

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
        verdict.measure(difference_in_bits(many.output, one.output), 0, where);
        verdict.measure(difference_in_bits(many.d_query, one.d_query), 0, where + ", gradient of queries");
        if (one.d_key) verdict.measure(difference_in_bits(many.d_key, one.d_key), 0, where + ", memory");
        for (std::size_t i = 0; i < one.d_parameters.size(); ++i)
          verdict.measure(difference_in_bits(many.d_parameters[i], one.d_parameters[i]), 0,
                          where + ", gradient of " + rig.parameters.all()[i]->name());
      }
    }
}

const Property f32{"near f64 in f32", test_f32};
const Property bf16{"near f64 in bf16", test_bf16};
const Property threads{"same bits for any threads", test_threads};

}  // namespace
}  // namespace attnlab
