#!/usr/bin/env bash
# All systems on English–German, in both directions: see README.md beside this file.
exec "$(dirname "$0")/../both_ways.sh" multi30k en de "$@"
