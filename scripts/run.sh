#!/usr/bin/env bash
# Builds Atelier and opens it on a folder, in a window or, without a display, in
# browser mode.
folder=$(realpath -- "${1:-.}") || exit
source "$(dirname "$0")/lib.sh"

if has_display; then
  say "building (the first time takes a few minutes)"
  scripts/build.sh window
  exec build/bin/atelier "$folder"
fi
say "building (the first time takes a few minutes)"
scripts/build.sh headless
say "there is no display, so this is browser mode: open the address below in a browser on this machine or through an SSH port-forward"
exec build/bin/atelier-headless serve "$folder"
