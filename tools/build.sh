#!/usr/bin/env bash
# Configures and builds one preset (default: release): tools/build.sh [PRESET] [TARGET…]
# ATTNLAB_CMAKE_OPTIONS: further options of cmake, separated by blanks.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
[ $# -gt 0 ] && shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
read -ra options <<<"${ATTNLAB_CMAKE_OPTIONS:-}"
cmake --preset "$preset" "${options[@]}" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
if [ -t 2 ]; then
  cmake --build --preset "$preset" ${*:+--target "$@"} >&2
else
  cmake --build --preset "$preset" ${*:+--target "$@"} >"$log" 2>&1 || { tail -n 60 "$log" >&2; exit 1; }
fi
