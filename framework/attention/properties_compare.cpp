#include "attention/properties_compare.h"

#include <algorithm>
#include <cmath>

namespace attnlab {

bool check_finite(Verdict& verdict, const Tensor& x, const std::string& where) {
  const auto values = x.to_doubles();
  const auto found =
      std::find_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); });
  if (found == values.end()) {
    verdict.require_finite(true, where);
    return true;
  }
  const Index element = found - values.begin();
  verdict.require_finite(false,
                         join_text(where, ", row ", element / x.columns(), ", column ", element % x.columns(),
                                   std::isnan(*found) ? " is NaN" : " is infinite"));
  return false;
}

bool check_finite(Verdict& verdict, const Rig& rig, const Run& run, const std::string& where) {
  bool finite = check_finite(verdict, run.output, where + ", output");
  const auto also = [&](const Tensor& x, const std::string& of) {
    if (x) finite = check_finite(verdict, x, where + ", gradient of " + of) && finite;
  };
  also(run.d_query, "queries");
  also(run.d_key, "keys");
  also(run.d_value, "values");
  for (std::size_t i = 0; i < run.d_parameters.size(); ++i)
    also(run.d_parameters[i], rig.parameters.all()[i]->name());
  return finite;
}

void compare(Verdict& verdict, const Tensor& got, const Tensor& expected, double bound,
             const std::string& where) {
  if (!check_finite(verdict, got, where)) return;
  if (!check_finite(verdict, expected, where + ", what it is compared with")) return;
  verdict.measure(error_of(got, expected, bound), bound, where);
}

}  // namespace attnlab
