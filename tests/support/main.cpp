#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#else
#include <catch2/catch_session.hpp>
#endif

#include "core/denormals.h"

int main(int argc, char* argv[]) {
  attnlab::flush_denormals_to_zero();  // as the program does
  return Catch::Session().run(argc, argv);
}
