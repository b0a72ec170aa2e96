// How help shows options.
#pragma once

#include <CLI/CLI.hpp>

namespace attnlab {

// An option that takes one value each time and may be given several times shows one value, and says so;
// CLI11 alone would show as many as an option that takes all that follow.
class HelpText : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

}  // namespace attnlab
