#!/usr/bin/env bash
# Runs every check. The last line has the counts.
source "$(dirname "$0")/lib.sh"

[[ -t 1 ]] || export NO_COLOR=1
export results
results=$(mktemp)
reports=$PWD/.cache/reports
rm -rf "$reports" && mkdir -p "$reports"
trap 'rm -f "$results"' EXIT

# suite NAME REPORT COMMAND...: runs a test runner and counts the results in the
# report that it writes. A runner that fails without a failure in its report, or
# writes no report, counts as one failure.
suite() {
  local name=$1 report=$2 begun=$SECONDS status=0
  shift 2
  printf '\n== %s\n' "$name"
  "$@" || status=$?
  node scripts/count.mjs "$report" "$status" >>"$results"
  printf '== %s: %d s\n' "$name" $((SECONDS - begun))
}

vitest() { (cd frontend && npm run --silent "$1" -- --reporter=default --reporter=json --outputFile.json="$2"); }

# More packages than cores run at the same time, because some of them mostly wait.
go_tests() { go test -p $(($(nproc) + 2)) -race -shuffle=on -json ./... >"$1"; }

node_tests() {
  node --test --test-reporter=spec --test-reporter-destination=stdout \
    --test-reporter=tap --test-reporter-destination="$1" "$2"
}

scripts/setup.sh test
printf '\n== static checks\n'
check "build" scripts/build.sh headless window childstorm
scripts/check.sh || true # its failures are counted
suite "Go tests" "$reports/go.json" go_tests "$reports/go.json"
suite "front end unit tests" "$reports/unit.vitest.json" vitest test "$reports/unit.vitest.json"
suite "browser tests in Chromium" "$reports/browser.vitest.json" vitest test:e2e "$reports/browser.vitest.json"
suite "the window under Xvfb" "$reports/window.tap" node_tests "$reports/window.tap" scripts/window-test/window.test.mjs
suite "the bench of the page, small" "$reports/bench-page.tap" node_tests "$reports/bench-page.tap" scripts/bench-page/bench-page.test.mjs

echo
awk -v s="$SECONDS" '
  { passed += $1; failed += $2; skipped += $3 }
  END {
    printf "took %d min %d s\n", s / 60, s % 60
    printf "%d passed, %d failed%s\n", passed, failed, skipped ? ", " skipped " skipped" : ""
    exit failed > 0
  }' "$results"
