#!/usr/bin/env bash
# All systems on English–Japanese, in both directions: see README.md beside this file.
set -euo pipefail
data=${1:?usage: recipes/enja/run.sh DATA_FOLDER [OPTION of recipes.run ...]}
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
if [ -z "${PYTHON:-}" ]; then # name one with OpenNMT-py and torch, and nothing is set up
    make -C "$root" setup
    PYTHON=$root/.venv/bin/python
fi

systems=baseline_absolute,baseline_absolute_relative,preorder_absolute,preorder_relative,preorder_both,reordered_text,gold
for pair in "en ja" "ja en"; do
    read -r source target <<<"$pair"
    PYTHONPATH=$root "$PYTHON" -m recipes.run --data "$data" --src "$source" --tgt "$target" \
        --run "$root/runs/enja-$source-$target" --size small --systems "$systems" --seeds 1,2,3 "$@"
done
