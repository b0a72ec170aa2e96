#!/usr/bin/env bash
# Sets up, builds and runs one experiment: tools/run.sh CONFIG… [options of `attnlab run`]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -gt 0 ] || { echo "usage: tools/run.sh CONFIG... [options of attnlab run]" >&2; exit 2; }
"$root/tools/setup.sh"
"$root/tools/build.sh" release attnlab_program
exec "$root/build/release/attnlab" run "$@"
