#include "option_ranges.h"

#include <fmt/format.h>

namespace attnlab {
namespace {

template <class Number, class Holds>
CLI::Validator ranged(const std::string& sort, const std::string& range, const std::string& in_help,
                      const Holds& holds) {
  return {[=](std::string& text) {
            Number value{};
            if (!CLI::detail::lexical_cast(text, value)) return fmt::format("must be {}, got {}", sort, text);
            return holds(value) ? "" : fmt::format("must be {}, got {}", range, text);
          },
          in_help};
}

CLI::Validator whole(std::int64_t least, const std::string& in_help) {
  return ranged<std::int64_t>("a whole number", fmt::format("at least {}", least), in_help,
                              [least](std::int64_t value) { return value >= least; });
}

}  // namespace

CLI::Validator positive_whole() { return whole(1, "POSITIVE"); }
CLI::Validator not_negative_whole() { return whole(0, "NONNEGATIVE"); }

// NaN lies in no range.
CLI::Validator positive_real() {
  return ranged<double>("a number", "above 0", "POSITIVE", [](double value) { return value > 0; });
}
CLI::Validator share() {
  return ranged<double>("a number", "from 0 to 1", "0 TO 1",
                        [](double value) { return value >= 0 && value <= 1; });
}

}  // namespace attnlab
