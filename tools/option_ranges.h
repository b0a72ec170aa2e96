// What the value of an option has to be, with a message for people: "must be at least 1, got 0".
#pragma once

#include <CLI/CLI.hpp>

namespace attnlab {

CLI::Validator positive_whole();      // 1, 2, …
CLI::Validator not_negative_whole();  // 0, 1, …
CLI::Validator positive_real();       // above 0
CLI::Validator share();               // 0 to 1, both included

}  // namespace attnlab
