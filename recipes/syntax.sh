#!/usr/bin/env bash
# Preorderers on syntax trees: train on a corpus but for its last lines, and measure on these.
#
#     recipes/syntax.sh SOURCE TREES ALIGNMENT LINES RUN [METHOD_AND_OPTIONS ...]
#
# A training prints the best order that its trees allow; RUN/NAME.txt says how good the learned one is.
set -euo pipefail
if [ $# -lt 5 ]; then
    echo "usage: recipes/syntax.sh SOURCE TREES ALIGNMENT LINES RUN [METHOD_AND_OPTIONS ...]" >&2
    exit 2
fi
source=$1 trees=$2 alignment=$3 held=$4 run=$5
shift 5
if [ $# -eq 0 ]; then
    set -- "btg --classes 256" rvnn swap-lstm \
        "rvnn --binarisation left" "rvnn --binarisation right"
fi

mkdir -p "$run"
lines=$(wc -l <"$source")
for part in source trees alignment; do
    head -n "$((lines - held))" "${!part}" >"$run/train.$part"
    tail -n "$held" "${!part}" >"$run/held.$part"
done

cd "$run"
for choice; do
    name=${choice// /}
    # shellcheck disable=SC2086  # a method and its options
    preorder train --classes 0 --src train.source --trees train.trees --align train.alignment \
        --model "$name" --method $choice
    preorder apply --model "$name" --src held.source --trees held.trees --format positions --out "$name.positions"
    echo "== $choice"
    preorder evaluate --align held.alignment --positions "$name.positions" | tee "$name.txt"
done
