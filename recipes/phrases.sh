#!/usr/bin/env bash
# NPMT with and without local reordering, and attention, two seeds; then a beam with several word rewards, on dev and test.
. "$(dirname "$0")/arguments.sh"
run=$root/runs/phrases-$source-$target

"$python" -m preorder_recipes.run --data "$data" --src "$source" --tgt "$target" --run "$run" --size tiny --seeds 1,2 --beam 10 \
    --systems npmt_attention,npmt_no_reordering,npmt --steps 3000 --set valid_steps=500 \
    --set learning_rate_decay=0.5 --set start_decay_steps=1800 --set decay_steps=300 \
    --set src_words_min_frequency=5 --set tgt_words_min_frequency=15 \
    --set 'transforms=[filtertoolong]' --set src_seq_length=15 --set tgt_seq_length=17 "$@"

for part in dev test; do
    hypotheses=()
    for reward in 0.4 0.8 1.2 1.6; do
        for system in npmt_no_reordering npmt; do
            for seed in 1 2; do
                folder=$run/systems/$system/seed$seed
                "$python" -m onmt.bin.translate -model "$folder/model.pt" -src "$run/data/$part.$source" \
                    -output "$folder/$part.$reward" -beam_size 10 -swan_word_reward "$reward"
                hypotheses+=("$system-$reward=$folder/$part.$reward")
            done
        done
    done
    "$python" -m preorder score --ref "$run/data/$part.$target" --hyp "${hypotheses[@]}" --metrics bleu --tokenize none
done
