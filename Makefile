# The scripts do the work; this file lists the commands.
DIR ?= .

.PHONY: run check test build gen fmt lint bench bench-page

run: ## open the window on DIR
	@scripts/run.sh "$(DIR)"

check: ## check what changed against main; see scripts/changed.sh
	@scripts/changed.sh

test: ## run every check; the last line has the counts
	@scripts/test.sh

build: ## build build/bin/atelier and build/bin/atelier-headless
	@scripts/build.sh window headless

gen: ## regenerate the generated sources
	@scripts/setup.sh headless
	go generate ./...

fmt: ## format Go and the front end
	@scripts/check.sh fmt

lint: ## run the static checks of make test
	@scripts/check.sh

bench: ## measure Atelier's own costs against a scripted model server
	@scripts/build.sh headless
	@go run ./scripts/bench
	@scripts/bench-sessions.sh

bench-page: ## measure the page in Chromium and in WebKitGTK
	@scripts/setup.sh bench-page
	@scripts/build.sh headless window bare-window
	@node scripts/bench-page/main.mjs
