// How a property of attention kinds enters the table of all: a constant at file scope,
//   const Property causality{"causality", test_causality};
#pragma once

#include <functional>
#include <limits>

#include "attention/properties.h"
#include "attention/properties_subject.h"

namespace attnlab {

// Collects what a property finds on one kind.
class Verdict {
 public:
  explicit Verdict(std::string kind) : kind_(std::move(kind)) {}
  void about(const std::string& variant) { variant_ = variant; }  // what is said from now on concerns it

  // An error that must not exceed its bound; a bound of 0 asks for the same bits.
  void measure(double error, double bound, const std::string& where);
  void require(bool holds, const std::string& what);
  // The same of NaN and infinity, which is said before all else: the other failures follow from it.
  void require_finite(bool holds, const std::string& what);
  void fail(const std::string& what);
  // f must throw an Error or ConfigError whose message names the kind.
  void expect_refusal(const std::string& what, const std::function<void()>& f);
  void not_promised(const std::string& why);

  PropertyResult result(const std::string& property) const;

 private:
  std::string kind_, variant_;
  std::vector<std::string> failures_;
  std::string not_finite_, refusal_, unpromised_, where_;
  double worst_ = 0, bound_ = 0, ratio_ = -1;
  int checks_ = 0;
};

struct Property {
  using Test = void (*)(const Subject& subject, Verdict& verdict);
  Property(const char* property_name, Test property_test);
  Property(const Property&) = delete;
  Property& operator=(const Property&) = delete;
  static std::vector<const Property*> all();  // in name order

  const char* name;
  Test test;
};

}  // namespace attnlab
