// Catch2, version 2 or 3: the one place that knows which is installed.
#pragma once

#include <string>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
inline auto containing(const std::string& text) { return Catch::Matchers::ContainsSubstring(text); }
#else
#include <catch2/catch.hpp>
inline auto containing(const std::string& text) { return Catch::Matchers::Contains(text); }
#endif
