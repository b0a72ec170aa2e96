// attnlab bench NAME: the benchmarks under tools/bench/.
#include "bench/benchmark.h"
#include "command.h"

namespace attnlab {
namespace {

const Command command{"bench", "measure speed on this machine", [](CLI::App& app) {
                        auto chosen = std::make_shared<std::function<int()>>();
                        app.require_subcommand(1);
                        for (const Benchmark* benchmark : benchmarks()) {
                          CLI::App* sub = app.add_subcommand(benchmark->name, benchmark->doc);
                          const auto action = benchmark->set_up(*sub);
                          sub->callback([chosen, action] { *chosen = action; });
                        }
                        return [chosen] { return (*chosen)(); };
                      }};

}  // namespace
}  // namespace attnlab
