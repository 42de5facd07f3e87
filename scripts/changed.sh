#!/usr/bin/env bash
# Checks what changed against BASE (main): the Go packages of changed files and the packages that
# import them, up to a bound, and the page's files with the unit tests that reach them. It is for
# work in progress; scripts/test.sh checks everything.
source "$(dirname "$0")/lib.sh"

base=$(git merge-base "${BASE:-main}" HEAD)
importers=${IMPORTERS:-2} # how many importing packages are tested, those with the fewest tests first
mapfile -t files < <({ git diff --name-only --diff-filter=d "$base" && git ls-files --others --exclude-standard; } | sort -u)
((${#files[@]})) || { say "nothing changed since $base"; exit 0; }
go_files=() page_files=()
declare -A dirs=()
for file in "${files[@]}"; do
  case $file in
  *.go) go_files+=("$file") && dirs[$(dirname "$file")]=1 ;;
  frontend/*.ts | frontend/*.js | frontend/*.svelte | frontend/*.css) page_files+=("${file#frontend/}") ;;
  */testdata/*) dirs[${file%%/testdata/*}]=1 ;;
  */*) [[ -z $(compgen -G "$(dirname "$file")/*.go") ]] || dirs[$(dirname "$file")]=1 ;; # such as an embedded text
  esac
done

go_checks() {
  local list packages=() beside=() rest=0 dir
  for dir in "${!dirs[@]}"; do [[ ! -d $dir || -z $(compgen -G "$dir/*.go") ]] || packages+=("./$dir"); done
  ((${#packages[@]})) || return 0
  with_launcher
  unformatted() { local list; list=$(gofmt -l "${go_files[@]}") && [[ -z $list ]] || { echo "$list"; return 1; }; }
  ((${#go_files[@]} == 0)) || check "Go formatting" unformatted
  # Importers, with the number of their test files.
  list=$(go list -f '{{.ImportPath}} {{.Dir}} {{len .TestGoFiles}} {{len .XTestGoFiles}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./...)
  mapfile -t beside < <(awk -v changed="$(go list "${packages[@]}")" '
    BEGIN { n = split(changed, c); for (i = 1; i <= n; i++) is[c[i]] = 1 }
    is[$1] || $3 + $4 == 0 { next }
    { for (i = 5; i <= NF; i++) if (is[$i]) { print $3 + $4, $1; break } }' <<<"$list" | sort -n | cut -d' ' -f2)
  if ((${#beside[@]} > importers)); then
    rest=$((${#beside[@]} - importers))
    beside=("${beside[@]:0:importers}")
  fi
  check "go vet" go vet "${packages[@]}" "${beside[@]}"
  check "Go tests, changed packages" go test -race "${packages[@]}"
  ((${#beside[@]} == 0)) || check "Go tests, ${#beside[@]} importing packages" go test -race "${beside[@]}"
  ((rest == 0)) || say "not tested: $rest more packages that import what changed (IMPORTERS=$((importers + rest)) tests them)"
  check "rules of the tree" go test ./internal/rules
  [[ -z $failed ]]
}
page_checks() {
  ((${#page_files[@]})) || return 0
  cd frontend
  local sources=() file
  for file in "${page_files[@]}"; do [[ $file != src/* ]] || sources+=("$file"); done
  check "front end formatting" npx prettier --check "${page_files[@]}"
  check "front end lint" npx eslint --max-warnings 0 --no-warn-ignored "${page_files[@]}"
  ((${#sources[@]} == 0)) || check "front end tests" npx vitest related --run --passWithNoTests "${sources[@]}"
  [[ -z $failed ]]
}

# Node uses one core and Go the other one.
page_checks & page=$!
go_checks || failed=yes
wait "$page" || failed=yes
[[ -z $failed ]]
