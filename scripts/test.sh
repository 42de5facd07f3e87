#!/usr/bin/env bash
# Runs every check. The last line has the counts.
source "$(dirname "$0")/lib.sh"

[[ -t 1 ]] || export NO_COLOR=1
export results
results=$(mktemp)
reports=$PWD/.cache/reports
rm -rf "$reports" && mkdir -p "$reports"
beside= # the process group of what runs at the same time
trap '[[ -z $beside ]] || kill -- "-$beside" 2>/dev/null || true; rm -f "$results"' EXIT

# suite NAME REPORT COMMAND...: runs a test runner, prints its output when it has
# ended, and counts the results in the report that it writes. A runner that fails
# without a failure in its report, or writes no report, counts as one failure.
suite() {
  local name=$1 report=$2 begun=$SECONDS status=0
  shift 2
  "$@" >"$report.log" 2>&1 || status=$?
  node scripts/count.mjs "$report" "$status" >>"$results" 2>>"$report.log"
  (
    flock 9 # nothing of another suite is printed in between
    printf '\n== %s\n%s\n== %s: %d s\n' "$name" "$(<"$report.log")" "$name" $((SECONDS - begun))
  ) 9>"$reports/lock"
}

vitest() { (cd frontend && npm run --silent "$1" -- --reporter=default --reporter=json --outputFile.json="$2"); }

# A machine that stands still for a while makes a test fail that is right. Therefore
# go_tests, node_tests and the journeys (vitest.e2e.config.ts) repeat what failed once,
# and the last lines say how many passed only then.

# What Go does not see of its tests: the machine's programs, and the user who runs them.
machine() { uname -srm && id -u && { dpkg-query -W 2>/dev/null || true; } && cat scripts/conformance/package-lock.json; }

# More packages than cores run at the same time, because some of them mostly wait.
# The page's tests, which wait for half of their time, come first. check.sh has vetted
# all packages. A program with the race detector would sleep for a second at its end.
# Go replays the result of a package of which the program, the files and the variables
# that it reads are as they were. With CI set, or on a machine that has changed, every
# test runs, and in CI in an order of its own, which cannot be replayed.
go_tests() {
  local package tests status=1 order=()
  [[ -z ${CI:-} ]] || order=(-shuffle=on)
  export TEST_RUN=$$.$EPOCHREALTIME # read by tests whose result must not be replayed
  race() { GORACE=atexit_sleep_ms=0 nice -n 5 go test -p $(($(nproc) + 2)) -vet=off -race "${order[@]}" -timeout 20m -json "$@"; }
  machine >.cache/machine
  changed machine .cache/machine && go clean -testcache && remember machine .cache/machine
  race ./... >"$1" && return
  while read -r package tests; do
    status=0
    race -run "$tests" "$package" >>"$1" </dev/null || return 1
  done < <(node scripts/count.mjs --repeat "$1")
  return $status
}

node_tests() {
  run() {
    node --test --test-reporter=spec --test-reporter-destination=stdout \
      --test-reporter=tap --test-reporter-destination="$1" "${@:2}"
  }
  run "$@" && return
  printf '\n== repeated because it failed\n'
  run "$@" && count 0 0 0 1
}

scripts/setup.sh test
with_launcher
# What vitest compiled for an earlier state of a file is not needed for long.
find frontend/node_modules/.experimental-vitest-cache -type f -mtime +7 -delete 2>/dev/null || true
printf '\n== static checks\n'
check "build" scripts/build.sh headless window childstorm conformance-{client,server} oauth-server
scripts/check.sh || true # its failures are counted
printf '\n== tests: two rows of suites run at the same time; each is printed when it has ended\n'
set -m # a process group of its own, which an interruption ends
suite "Go tests" "$reports/go.json" go_tests "$reports/go.json" &
beside=$!
set +m
suite "conformance of MCP" "$reports/conformance.tap" node_tests "$reports/conformance.tap" scripts/conformance/*.test.mjs
suite "the window under Xvfb" "$reports/window.tap" node_tests "$reports/window.tap" scripts/window-test/window.test.mjs
suite "front end unit tests" "$reports/unit.vitest.json" vitest test "$reports/unit.vitest.json"
suite "the bench of the page, small" "$reports/bench-page.tap" node_tests "$reports/bench-page.tap" scripts/bench-page/bench-page.test.mjs
suite "browser tests in Chromium" "$reports/browser.vitest.json" vitest test:e2e "$reports/browser.vitest.json"
wait "$beside" || count 0 1 0
beside=

echo
awk -v s="$SECONDS" '
  { passed += $1; failed += $2; skipped += $3; repeated += $4; replayed += $5 }
  END {
    if (replayed) printf "%d results of Go tests are of an earlier run: nothing that they depend on has changed\n", replayed
    if (repeated) printf "%d passed only when repeated: what failed first is above\n", repeated
    printf "took %d min %d s\n", s / 60, s % 60
    printf "%d passed, %d failed%s\n", passed, failed, skipped ? ", " skipped " skipped" : ""
    exit failed > 0
  }' "$results"
