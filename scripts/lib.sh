# What the scripts share. Sourced with bash, from the project's root.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Build tags of the window; everything else needs none.
window_tags=desktop,production,webkit2_41
# Tools that the checks pin, installed once under .cache.
tools=$PWD/.cache/tools
staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
goimports=golang.org/x/tools/cmd/goimports@v0.52.0

say() { printf '%s\n' "atelier: $*" >&2; }
die() { say "$*"; exit 1; }

# changed NAME FILE...: true unless the files are as at the last `remember NAME`.
changed() { [[ $(stamp "${@:2}") != "$(cat ".cache/$1.stamp" 2>/dev/null)" ]]; }
remember() { mkdir -p .cache && stamp "${@:2}" >".cache/$1.stamp"; }
stamp() { cat "$@" | sha256sum; }

# has_display: true where a window can be shown.
has_display() { [[ -n ${DISPLAY:-} || -n ${WAYLAND_DISPLAY:-} ]]; }
