// attnlab board: the verdicts of all studies whose results are kept.
#include <fmt/core.h>

#include "command.h"
#include "config/error.h"
#include "study/board.h"

namespace attnlab {
namespace {

struct Options {
  std::string experiments = "experiments";
  bool markdown = false;
};

int board(const Options& options) {
  const std::vector<BoardEntry> studies = kept_studies(options.experiments);
  if (studies.empty())
    throw ConfigError("error: no results below " + options.experiments +
                      "; attnlab reproduce keeps them there");
  fmt::print("{}", options.markdown ? board_markdown(studies) : verdict_board(board_of(studies)));
  return 0;
}

const Command command{"board", "the verdicts of all studies whose results are kept", [](CLI::App& app) {
                        auto options = std::make_shared<Options>();
                        app.add_option("--experiments", options->experiments, "where reproduce keeps results")
                            ->capture_default_str();
                        app.add_flag("--markdown", options->markdown, "as in experiments/README.md");
                        return [options] { return board(*options); };
                      }};

}  // namespace
}  // namespace attnlab
