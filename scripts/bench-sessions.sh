#!/usr/bin/env bash
# Measures the list, opening and searching with 10,000 sessions, of which one has
# 50,000 messages. They are made once, in a minute, and indexed once, under .cache.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

shopt -s nullglob
bed=.cache/bench-sessions
sources=(scripts/seed/*.go scripts/bench-sessions.sh)
if changed bench-sessions "${sources[@]}"; then
  say "making the sessions, once"
  rm -rf "$bed"
  mkdir -p "$bed/home" "$bed/project"
  go run ./scripts/seed -home "$bed/home" -folder "$bed/project" -sessions 10000 -messages 50000
  remember bench-sessions "${sources[@]}"
fi
go run ./scripts/bench-sessions -home "$bed/home" -folder "$bed/project"
