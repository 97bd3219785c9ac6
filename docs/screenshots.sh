#!/usr/bin/env bash
# Make the pictures of these pages: of a sentence, and of the report of a run, by Chromium, as `make demo` leaves it.
set -euo pipefail
run=${1:-runs/svo-sov-tiny}
cd "$(dirname "$0")/.."

sentence=docs/example/sentence
preorder show --src $sentence.en --positions $sentence.positions --tgt $sentence.ja --align $sentence.align \
    --out docs/example.svg --out docs/example.png

for size in 1000,760 375,760; do
    chromium --headless --no-sandbox --hide-scrollbars --force-device-scale-factor=1 --window-size=$size \
        --screenshot="docs/report-${size%,*}.png" "file://$(realpath "$run")/report.html"
done
