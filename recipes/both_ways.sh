#!/usr/bin/env bash
# Train and compare the systems of Kawara et al. 2021, or those of `--systems`, in both directions.
set -euo pipefail
if [ $# -lt 4 ]; then
    echo "usage: recipes/both_ways.sh NAME LANGUAGE LANGUAGE DATA_FOLDER [OPTION_OF_RECIPES.RUN ...]" >&2
    exit 2
fi
name=$1 first=$2 second=$3 data=$4
shift 4
root=$(cd "$(dirname "$0")/.." && pwd)
if [ -z "${PYTHON:-}" ]; then # name one with OpenNMT-py and torch, and nothing is set up
    make -C "$root" setup
    PYTHON=$root/.venv/bin/python
fi

systems=baseline_absolute,baseline_absolute_relative,preorder_absolute,preorder_relative,preorder_both,reordered_text,gold
for pair in "$first $second" "$second $first"; do
    read -r source target <<<"$pair"
    PYTHONPATH=$root "$PYTHON" -m preorder_recipes.run --data "$data" --src "$source" --tgt "$target" \
        --run "$root/runs/$name-$source-$target" --size small --systems "$systems" --seeds 1,2,3 "$@"
done
