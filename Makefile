# The scripts do the work; this file is the list of what there is.
DIR ?= .

.PHONY: run test build gen fmt lint bench

run: ## open the window on DIR
	@scripts/run.sh "$(DIR)"

test: ## everything that can be checked, with one line of counts at the end
	@scripts/test.sh

build: ## build/bin/atelier and build/bin/atelier-headless
	@scripts/build.sh window headless

gen: ## write generated sources anew
	@scripts/setup.sh headless
	go generate ./...

fmt: ## format Go and the front end
	@scripts/check.sh fmt

lint: ## the static checks of make test
	@scripts/check.sh

bench: ## what Atelier itself costs, against a scripted model server
	@scripts/build.sh headless
	@go run ./scripts/bench
