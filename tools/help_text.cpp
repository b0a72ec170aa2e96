#include "help_text.h"

namespace attnlab {
namespace {

bool one_value_each_time(const CLI::Option& option) {
  return option.nonpositional() && option.get_items_expected_max() > 1 && !option.get_allow_extra_args();
}

}  // namespace

std::string HelpText::make_option_opts(const CLI::Option* option) const {
  std::string text = CLI::Formatter::make_option_opts(option);
  const std::string several = " ...";
  if (const std::size_t at = text.find(several); one_value_each_time(*option) && at != std::string::npos)
    text.erase(at, several.size());
  return text;
}

std::string HelpText::make_option_desc(const CLI::Option* option) const {
  return CLI::Formatter::make_option_desc(option) +
         (one_value_each_time(*option) ? " (may be given several times)" : "");
}

}  // namespace attnlab
