#!/usr/bin/env bash
# Installs missing dependencies of "headless" (browser mode and command line),
# "window", "bench-page" or "test" (everything). It is quick if nothing is
# missing.
source "$(dirname "$0")/lib.sh"

packages=(build-essential ca-certificates)
window=(pkg-config libgtk-3-dev libwebkit2gtk-4.1-dev xdg-utils fonts-dejavu-core fonts-noto-color-emoji)
pages=(xvfb xauth dbus-x11 webkit2gtk-driver chromium-headless-shell)
checks=("${pages[@]}" imagemagick ripgrep bubblewrap xdotool xclip)
case ${1:-test} in
headless) ;;
window) packages+=("${window[@]}") ;;
bench-page) packages+=("${window[@]}" "${pages[@]}") ;;
test) packages+=("${window[@]}" "${checks[@]}") ;;
*) die "usage: scripts/setup.sh headless|window|bench-page|test" ;;
esac

# at_least WANTED ACTUAL compares versions such as 1.26.
at_least() { [[ $(printf '%s\n' "$1" "$2" | sort -V | head -1) == "$1" ]]; }

toolchains() {
  local found
  found=$(go env GOVERSION 2>/dev/null | sed 's/^go//') || true
  at_least 1.26 "${found:-0}" ||
    die "Go 1.26 or later is needed, found ${found:-none}. Get it from https://go.dev/dl/, then run this again."
  found=$(node --version 2>/dev/null | sed 's/^v//') || true
  at_least 20.19 "${found:-0}" ||
    die "Node 20.19 or later is needed, found ${found:-none}. Get it from https://nodejs.org/, then run this again."
  command -v npm >/dev/null || die "npm is needed; it comes with Node from https://nodejs.org/."
}

debian_packages() {
  local missing=() installed package as_root=()
  command -v dpkg-query >/dev/null ||
    { say "this is not Debian; assuming that these, or what they are called here, are installed: ${packages[*]}"; return; }
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null) || true
  for package in "${packages[@]}"; do
    [[ $'\n'$installed$'\n' == *$'\n'"$package installed"$'\n'* ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if ((EUID)); then
    as_root=(sudo)
    { command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; } || {
      say "these Debian packages are missing and installing them needs root. Run this, then try again:"
      printf '\n  apt-get update && apt-get install -y --no-install-recommends %s\n\n' "${missing[*]}" >&2
      exit 1
    }
  fi
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

# node_modules DIRECTORY STAMP
node_modules() {
  [[ -d $1/node_modules ]] && ! changed "$2" "$1/package-lock.json" && return
  say "installing the packages of $1 (npm ci)"
  (cd "$1" && npm ci --no-audit --no-fund --loglevel=error) >&2
  remember "$2" "$1/package-lock.json"
}

debian_packages
toolchains
node_modules frontend npm
if [[ ${1:-test} == test ]]; then
  node_modules scripts/conformance npm-conformance
  tool "$gopls"
fi
