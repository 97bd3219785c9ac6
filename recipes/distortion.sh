#!/usr/bin/env bash
# S-, T- and H-Distortion, and RNNsearch* at the same schedule, from one RNNsearch*, two seeds; then alignments by
# attention, and how sharp the jumps are.
. "$(dirname "$0")/arguments.sh"
run=$root/runs/distortion-$source-$target
systems=rnnsearch,rnnsearch_longer,distortion_source,distortion_target,distortion_hidden

"$python" -m preorder_recipes.run --data "$data" --src "$source" --tgt "$target" --run "$run" --size small --seeds 1,2 \
    --systems $systems "$@"

for system in ${systems//,/ }; do
    for seed in 1 2; do
        echo "$system, seed $seed"
        folder=$run/systems/$system/seed$seed
        "$python" -m onmt.bin.translate -model "$folder/model.pt" -src "$run/data/test.$source" \
            -tgt "$run/data/test.$target" -gold_align -beam_size 1 -output /dev/null -align_output "$folder/test.align"
        "$python" -m preorder evaluate --align "$folder/test.align" --gold "$run/data/test.align"
        case $system in distortion_*)
            "$python" -m preorder_recipes.jumps --model "$folder/model.pt" --src "$run/data/test.$source" --tgt "$run/data/test.$target" ;;
        esac
    done
done
