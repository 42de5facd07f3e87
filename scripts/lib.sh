# Functions that the scripts share. Source it with bash; it changes to the
# project's root.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Build tags: SQLite's full-text search for every program, and those of the
# window. A -tags option replaces the one in GOFLAGS.
tags=sqlite_fts5
window_tags=desktop,production,webkit2_41,$tags
export GOFLAGS="${GOFLAGS:-} -tags=$tags"

# with_launcher: adds the program that confines commands on Linux to what is built
# from here on. Without a C compiler that can build it, Landlock alone confines them.
with_launcher() {
  local program=agent/sandbox/launcher/launcher
  [[ $(uname -s) == Linux && $tags != *launcher* ]] || return 0
  if [[ ! $program -nt $program.c ]]; then
    "${CC:-cc}" -std=gnu11 -Os -Wall -Wextra -ffreestanding -fno-pie -fno-stack-protector -fno-asynchronous-unwind-tables \
      -static -no-pie -nostdlib -s -Wl,--build-id=none -Wl,-z,noexecstack -o "$program.$$" $program.c >&2 ||
      { say "the launcher was not built: only Landlock confines commands"; return 0; }
    mv "$program.$$" $program
  fi
  tags+=,launcher
  window_tags+=,launcher
  GOFLAGS+=,launcher
}

# The checks use these versions of their tools, installed once under .cache.
tools=$PWD/.cache/tools
staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
goimports=golang.org/x/tools/cmd/goimports@v0.52.0
# Tests ask a real language server.
gopls=golang.org/x/tools/gopls@v0.23.0

say() { printf '%s\n' "atelier: $*" >&2; }
die() { say "$*"; exit 1; }

# changed NAME FILE...: true unless the files are the same as at the last
# `remember NAME`.
changed() { [[ $(stamp "${@:2}") != "$(cat ".cache/$1.stamp" 2>/dev/null)" ]]; }
remember() { mkdir -p .cache && stamp "${@:2}" >".cache/$1.stamp"; }
stamp() { cat "$@" | sha256sum; }

# has_display: true if a window can be shown.
has_display() { [[ -n ${DISPLAY:-} || -n ${WAYLAND_DISPLAY:-} ]]; }

# check NAME COMMAND...: runs one check and prints its result. Its output is
# shown only if it fails. Counts go to the file $results if that is set.
check() {
  local name=$1 output begun=$SECONDS
  shift
  if output=$("$@" 2>&1); then
    printf 'ok      %-34s %4d s\n' "$name" $((SECONDS - begun))
    count 1 0 0
  else
    printf 'FAILED  %-34s %4d s\n%s\n' "$name" $((SECONDS - begun)) "$output"
    count 0 1 0
  fi
}

# count PASSED FAILED SKIPPED: adds to the counts.
count() { echo "$*" >>"${results:-/dev/null}"; [[ $2 == 0 ]] || failed=yes; }
failed=

# tool PACKAGE@VERSION: installs a pinned tool once.
tool() {
  local name=${1%@*}
  name=${name##*/}
  [[ $(go version -m "$tools/$name" 2>/dev/null) == *"${1#*@}"* ]] || GOBIN=$tools go install "$1" >&2
}
