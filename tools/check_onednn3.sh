#!/usr/bin/env bash
# Compiles core, kernels and the kernels' tests against oneDNN 3.x, and runs those tests: the same source must work with
# the distribution's 2.6 and with newer systems. The library comes from PyPI wheels (oneDNN 3.2 with GCC's OpenMP).
# Usage: tools/check_onednn3.sh [BUILD_FOLDER]      (default: build/onednn3)
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$root/build/onednn3}
wheels=(onednn-cpu-gomp==2023.2.0 onednn-devel-cpu-gomp==2023.2.0)

fail() {
  echo "check_onednn3: $*" >&2
  exit 1
}

mkdir -p "$build/objects"
venv=$build/venv
if [ -z "$(find "$venv" -name dnnl.hpp -print -quit 2>/dev/null)" ]; then
  rm -rf "$venv"
  python3 -m venv "$venv" || fail "cannot make a Python environment; install python3-venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check "${wheels[@]}" ||
    fail "cannot install ${wheels[*]}: this check needs the network once, to reach the Python package index"
fi
header=$(find "$venv" -path '*/oneapi/dnnl/dnnl.hpp' -print -quit)
library=$(find "$venv" -name 'libdnnl.so.3' -print -quit)
[ -n "$header" ] && [ -n "$library" ] || fail "no dnnl.hpp or libdnnl.so.3 below $venv; remove that folder and try again"
include=${header%/oneapi/dnnl/dnnl.hpp}

compiler=${CXX:-g++}
launcher=$(command -v ccache || true)
flags=(-std=c++20 -O2 -fopenmp -Wall -Wextra -isystem "$include" -I "$root/framework" -I "$root/tests")
cd "$root"
sources=(framework/core/*.cpp framework/kernels/*.cpp tests/kernels/*_test.cpp tests/support/main.cpp)
printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -I{} sh -c '
  source=$1; object=$2/objects/$(echo "$source" | tr / _).o; shift 2
  "$@" -c "$source" -o "$object"' _ {} "$build" ${launcher:+"$launcher"} "$compiler" "${flags[@]}" ||
  fail "the source does not compile against oneDNN 3"
objects=()
for source in "${sources[@]}"; do objects+=("$build/objects/${source//\//_}.o"); done
# Catch2 3 keeps its code in a library; version 2 is all header.
catch=()
if echo '#include <catch2/catch_all.hpp>' | "$compiler" -std=c++20 -E -x c++ - >/dev/null 2>&1; then catch=(-lCatch2); fi
"$compiler" -fopenmp "${objects[@]}" -o "$build/test_kernels" "$library" -Wl,-rpath,"$(dirname "$library")" \
  -Wl,--as-needed -lfmt "${catch[@]}" || fail "the tests do not link against oneDNN 3"

echo "check_onednn3: running the kernels' tests with $(basename "$(readlink -f "$library")")"
OMP_WAIT_POLICY=passive "$build/test_kernels" "${@:2}" || fail "the kernels' tests fail with oneDNN 3"
