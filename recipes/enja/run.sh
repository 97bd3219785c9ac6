#!/usr/bin/env bash
# All systems on English–Japanese, in both directions: see README.md beside this file.
exec "$(dirname "$0")/../both_ways.sh" enja en ja "$@"
