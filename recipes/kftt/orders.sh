#!/usr/bin/env bash
# Preorderers on KFTT: align, train, and measure links and orders on hand-aligned sentences that nothing learned from.
#
#     recipes/kftt/orders.sh DATA RUN SOURCE LINES [METHOD_AND_OPTIONS ...]
#
# DATA: of preorder_recipes.kftt.prepare; SOURCE: en or ja; LINES: of training text. RUN/LINES holds the links, and
# RUN/LINES/SOURCE the models and the figures of each. What is there is not made again. LINKS names the links,
# by default "intersect hand-0.3": those of a symmetrisation, and those of confidence 0.3 or more by hand-made ones.
set -euo pipefail
if [ $# -lt 4 ] || { [ "$3" != en ] && [ "$3" != ja ]; }; then
    echo "usage: recipes/kftt/orders.sh DATA RUN en|ja LINES [METHOD_AND_OPTIONS ...]" >&2
    exit 2
fi
data=$(realpath "$1") run=$2 source=$3 lines=$4
shift 4
if [ $# -eq 0 ]; then
    set -- btg neural-btg
fi

mkdir -p "$run/$lines/$source"
cd "$run/$lines"
if [ ! -e all.ja ]; then
    for side in en ja; do
        head -n "$lines" "$data/train.$side" >"train.$side"
        cat "train.$side" "$data/hand-test.$side" >"all.$side"
    done
fi
lines=$(wc -l <train.en) # the text may have fewer
for name in ${LINKS:-intersect hand-0.3}; do
    if [ ! -e "$name.txt" ]; then
        options=(--symmetrize "$name")
        if [ "$name" != "${name#hand-}" ]; then # what hand-made links teach, of this confidence or more
            options=(--hand-src "$data/hand-train.en" --hand-tgt "$data/hand-train.ja"
                --hand-align "$data/hand-train.align" --min-confidence "${name#hand-}")
        fi
        preorder align --src all.en --tgt all.ja "${options[@]}" --out "$name.all"
        head -n "$lines" "$name.all" >"$name.en"
        preorder map --align "$name.en" --reverse --out "$name.ja"
        tail -n "+$((lines + 1))" "$name.all" >"$name.test"
        preorder evaluate --align "$name.test" --gold "$data/hand-test.align" >"$name.part"
        mv "$name.part" "$name.txt"
    fi
    echo "== links $name"
    cat "$name.txt"
    gold=$data/hand-test.align
    if [ "$source" = ja ]; then
        preorder map --align "$gold" --reverse --out gold.ja
        gold=gold.ja
    fi
    for choice; do
        model="$source/$name.${choice// /}"
        if [ ! -e "$model.txt" ]; then
            # shellcheck disable=SC2086  # a method and its options
            preorder train --src "train.$source" --align "$name.$source" --model "$model" --method $choice
            preorder apply --model "$model" --src "$data/hand-test.$source" --format positions --out "$model.positions"
            preorder evaluate --align "$gold" --positions "$model.positions" >"$model.part"
            mv "$model.part" "$model.txt"
        fi
        echo "== $choice, links $name"
        cat "$model.txt"
    done
done
