#include "attention/properties.h"

#include <algorithm>
#include <cmath>

#include "attention/properties_table.h"
#include "config/error.h"

namespace attnlab {
namespace {

std::vector<const Property*>& table() {
  static std::vector<const Property*> properties;
  return properties;
}

std::string number(double value) {
  std::ostringstream out;
  out.precision(2);
  out << value;
  return out.str();
}

PropertyResult run_property(const Property& property, const std::string& kind,
                            const std::vector<Subject>& variants) {
  Verdict verdict(kind);
  for (const Subject& subject : variants) {
    verdict.about(subject.label);
    try {
      property.test(subject, verdict);
    } catch (const std::exception& error) {
      verdict.fail(join_text("threw '", error.what(), "'"));
    }
  }
  return verdict.result(property.name);
}

}  // namespace

std::string to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::passed:
      return "passed";
    case Outcome::failed:
      return "failed";
    case Outcome::refused_cleanly:
      return "refused cleanly";
    case Outcome::not_promised:
      break;
  }
  return "not promised";
}

Property::Property(const char* property_name, Test property_test) : name(property_name), test(property_test) {
  table().push_back(this);
}

std::vector<const Property*> Property::all() {
  std::vector<const Property*> sorted = table();
  std::sort(sorted.begin(), sorted.end(), [](const Property* a, const Property* b) {
    return std::string_view(a->name) < std::string_view(b->name);
  });
  return sorted;
}

void Verdict::measure(double error, double bound, const std::string& where) {
  ++checks_;
  if (!(error <= bound))
    fail(join_text(where, ": error ", number(error),
                   bound > 0 ? ", bound " + number(bound) : ", expected the same bits"));
  double ratio = bound > 0 ? error / bound : error > 0 ? HUGE_VAL : 0;
  if (std::isnan(ratio)) ratio = HUGE_VAL;
  if (ratio <= ratio_) return;
  ratio_ = ratio;
  worst_ = error;
  bound_ = bound;
  where_ = variant_ + where;
}

void Verdict::require(bool holds, const std::string& what) {
  ++checks_;
  if (!holds) fail(what);
}

void Verdict::require_finite(bool holds, const std::string& what) {
  require(holds, "not finite: " + what);
  if (holds) return;
  if (not_finite_.empty()) not_finite_ = failures_.back();
  ratio_ = worst_ = HUGE_VAL;
}

void Verdict::fail(const std::string& what) { failures_.push_back(variant_ + what); }

void Verdict::expect_refusal(const std::string& what, const std::function<void()>& f) {
  std::string message;
  try {
    f();
  } catch (const Error& error) {
    message = error.what();
  } catch (const ConfigError& error) {
    message = error.what();
  }
  if (message.empty())
    fail(what + " is not promised, but was not refused");
  else if (message.find(kind_) == std::string::npos)
    fail(what + " was refused without naming the kind: " + message);
  else
    refusal_ = message;
}

void Verdict::not_promised(const std::string& why) { unpromised_ = why; }

PropertyResult Verdict::result(const std::string& property) const {
  PropertyResult result{property, Outcome::passed, worst_, {}};
  if (!failures_.empty()) {
    result.outcome = Outcome::failed;
    result.details = not_finite_.empty() ? failures_.front() : not_finite_;
    if (failures_.size() > 1) result.details += join_text(" (and ", failures_.size() - 1, " more)");
  } else if (checks_ > 0) {
    if (ratio_ < 0)
      result.details = join_text(checks_, " checks");
    else if (bound_ > 0)
      result.details = "bound " + number(bound_) + ", at " + where_;
    else
      result.details = "same bits";
  } else if (!refusal_.empty()) {
    result.outcome = Outcome::refused_cleanly;
    result.details = refusal_;
  } else {
    result.outcome = Outcome::not_promised;
    result.details = unpromised_.empty() ? "nothing to check" : unpromised_;
  }
  return result;
}

std::vector<PropertyResult> check_attention(const std::string& kind, const std::string& only) {
  std::vector<const Property*> wanted;
  std::string known;
  for (const Property* property : Property::all()) {
    known += (known.empty() ? "" : ", ") + std::string(property->name);
    if (only.empty() || only == property->name) wanted.push_back(property);
  }
  if (wanted.empty()) throw ConfigError("no property '" + only + "' of attentions; there are " + known);
  const std::vector<Subject> variants = subjects(kind);
  std::vector<PropertyResult> results;
  for (const Property* property : wanted) results.push_back(run_property(*property, kind, variants));
  return results;
}

bool none_failed(const std::vector<PropertyResult>& results) {
  return std::none_of(results.begin(), results.end(),
                      [](const PropertyResult& result) { return result.outcome == Outcome::failed; });
}

}  // namespace attnlab
