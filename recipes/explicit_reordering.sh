#!/usr/bin/env bash
# ExGRE and ReFSR beside a plain Transformer, two seeds; then how far their positions have gone towards the gold ones.
. "$(dirname "$0")/arguments.sh"
run=$root/runs/explicit-$source-$target

"$python" -m preorder_recipes.run --data "$data" --src "$source" --tgt "$target" --run "$run" --size small --seeds 1,2 \
    --systems plain,exgre,exgre_predicted,refsr "$@"

for system in exgre exgre_predicted refsr; do
    for seed in 1 2; do
        echo "$system, seed $seed"
        "$python" -m preorder_recipes.similarity --model "$run/systems/$system/seed$seed/model.pt" \
            --src "$run/data/test.$source.gold_kept.features"
    done
done
