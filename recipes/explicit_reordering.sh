#!/usr/bin/env bash
# ExGRE and ReFSR beside a plain Transformer, two seeds; then how far their positions have gone towards the gold ones.
set -euo pipefail
if [ $# -lt 3 ]; then
    echo "usage: recipes/explicit_reordering.sh DATA_FOLDER SOURCE TARGET [OPTION_OF_RECIPES.RUN ...]" >&2
    exit 2
fi
data=$1 source=$2 target=$3
shift 3
root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-$root/.venv/bin/python} run=$root/runs/explicit-$source-$target
export PYTHONPATH=$root

"$python" -m recipes.run --data "$data" --src "$source" --tgt "$target" --run "$run" --size small --seeds 1,2 \
    --systems plain,exgre,exgre_predicted,refsr "$@"

for system in exgre exgre_predicted refsr; do
    for seed in 1 2; do
        echo "$system, seed $seed"
        "$python" -m recipes.similarity --model "$run/systems/$system/seed$seed/model.pt" \
            --src "$run/data/test.$source.gold_kept.features"
    done
done
