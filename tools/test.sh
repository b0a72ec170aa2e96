#!/usr/bin/env bash
# Sets up, builds and runs all tests: tools/test.sh [options of ctest]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
preset=${ATTNLAB_PRESET:-release}
"$root/tools/setup.sh"
"$root/tools/build.sh" "$preset"
# Tests on real corpora look here; they say so and skip where the folder is absent.
if [ -z "${ATTNLAB_SHARED_DATA:-}" ] && [ -d "$root/../shared/data" ]; then
  export ATTNLAB_SHARED_DATA="$root/../shared/data"
fi
# And tests on published models here; tools/test_models.sh brings them.
if [ -z "${ATTNLAB_MODELS:-}" ] && [ -d "$root/models/all-minilm-l6-v2" ]; then
  export ATTNLAB_MODELS="$root/models"
fi
export OMP_WAIT_POLICY=passive
exec ctest --test-dir "$root/build/$preset" --output-on-failure -j "$(nproc)" "$@"
