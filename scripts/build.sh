#!/usr/bin/env bash
# Builds the front end and the named programs: window, headless, and for tests
# childstorm (the window with 150 child processes at its start), bare-window (one that
# shows a line of text), conformance-client, conformance-server and oauth-server. It first
# installs their dependencies.
source "$(dirname "$0")/lib.sh"

needs=headless
[[ ! " $* " =~ \ (window|childstorm|bare-window)\  ]] || needs=window
scripts/setup.sh "$needs"
with_launcher

frontend() {
  local sources
  mapfile -t sources < <(find frontend \( -name node_modules -o -name dist -o -name e2e \) -prune -o -type f -print | sort)
  [[ -f frontend/dist/index.html ]] && ! changed frontend "${sources[@]}" && return
  (cd frontend && npm run --silent build -- --logLevel warn) >&2
  remember frontend "${sources[@]}"
}

# program NAME TAGS PACKAGE
program() { go build -trimpath -buildvcs=false -tags "$2" -ldflags "-s -w" -o "build/bin/$1" "$3"; }

frontend
for what in "$@"; do
  case $what in
  window) program atelier "$window_tags" . ;;
  headless) program atelier-headless "$tags" ./cmd/atelier-headless ;;
  bare-window) program bare-window "$window_tags" ./scripts/bench-page/bare ;;
  childstorm) program atelier-childstorm "$window_tags,childstorm" . ;;
  conformance-*) program "$what" "$tags" "./scripts/conformance/${what#conformance-}" ;;
  oauth-server) program "$what" "$tags" ./scripts/oauth-server ;;
  *) die "usage: scripts/build.sh [window] [headless] [childstorm] [bare-window] [conformance-client|-server] [oauth-server]" ;;
  esac
done
