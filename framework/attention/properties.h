// Holds an attention kind to what it promises, over everything that is registered: gradients, masks, batches,
// decoding, formats, threads. `attnlab check attention NAME` prints the results; modules outside the source
// tree get the same tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnlab {

enum class Outcome : std::uint8_t {
  passed,
  failed,
  refused_cleanly,  // not promised, and asking for it gives an error that names the kind
  not_promised,     // nothing to refuse: it is just not so
};
std::string to_string(Outcome outcome);  // "passed", "failed", "refused cleanly", "not promised"

struct PropertyResult {
  std::string property;
  Outcome outcome = Outcome::passed;
  double worst = 0;     // the error nearest to its bound; 0 where bits are compared and all agree, infinite
                        // where a number is not finite
  std::string details;  // that bound and where it was, or what went wrong
};

// Every property in name order, on the kind's default keys and with each of its own keys changed once.
// `only` names a single property. ConfigError if there is no such kind or property; whatever else goes wrong
// is a failed property.
std::vector<PropertyResult> check_attention(const std::string& kind, const std::string& only = "");

// Whether none failed.
bool none_failed(const std::vector<PropertyResult>& results);

}  // namespace attnlab
