#!/usr/bin/env bash
# The static checks; with "fmt" it formats instead.
source "$(dirname "$0")/lib.sh"

if [[ ${1:-} == fmt ]]; then scripts/setup.sh headless; else scripts/setup.sh window; fi
mapfile -t go_files < <(find . \( -name node_modules -o -name '.?*' \) -prune -o -name '*.go' -print)
tool "$goimports"

if [[ ${1:-} == fmt ]]; then
  "$tools/goimports" -w "${go_files[@]}"
  cd frontend && exec npm run --silent format
fi

with_launcher
tool "$staticcheck"
unformatted() { local list; list=$("$tools/goimports" -l "${go_files[@]}") && [[ -z $list ]] || { echo "$list"; return 1; }; }
npm_run() { (cd frontend && npm run --silent "$@"); }
# What has not changed since it was found right is not read again.
cached() { npm_run "$1" -- --cache --cache-strategy content --cache-location "$PWD/.cache/$2"; }
how=(scripts/check.sh scripts/lib.sh) # of which a change counts as one of the files
mapfile -t page_files < <(find frontend .editorconfig \( -name node_modules -o -name dist \) -prune -o -type f -print | sort)
# unless_passed NAME FILE... -- COMMAND...: runs a check unless it has passed on the same files.
unless_passed() {
  local name=$1 files=() now
  shift
  while [[ $1 != -- ]]; do files+=("$1") && shift; done
  shift
  now=$(sha256sum "${files[@]}" "${how[@]}") || return # before it runs: the files may change meanwhile
  [[ $now != "$(cat ".cache/$name.passed" 2>/dev/null)" ]] || return 0
  "$@" && echo "$now" >".cache/$name.passed"
}

go_checks() {
  check "Go formatting" unless_passed goimports "${go_files[@]}" -- unformatted
  check "go vet" go vet ./...
  check "go vet, window" go vet -tags "$window_tags" . ./desktop
  check "go vet, Windows" env GOOS=windows go vet ./agent/...
  check "staticcheck" "$tools/staticcheck" ./...
  check "staticcheck, window" "$tools/staticcheck" -tags "$window_tags" . ./desktop
  check "staticcheck, Windows" env GOOS=windows "$tools/staticcheck" ./agent/...
  [[ -z $failed ]]
}
page_checks() {
  check "front end formatting" cached format:check prettier
  check "front end lint" unless_passed lint "${page_files[@]}" -- npm_run lint
  check "front end types" unless_passed types "${page_files[@]}" -- npm_run check
  [[ -z $failed ]]
}

# Node uses one core and Go the other one.
page_checks & page=$!
go_checks || failed=yes
wait "$page" || failed=yes
[[ -z $failed ]]
