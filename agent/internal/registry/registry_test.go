package registry

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	npm   = "registry.npmjs.org"
	yarn  = "registry.yarnpkg.com " + npm
	pypi  = "pypi.org files.pythonhosted.org"
	gosum = "proxy.golang.org sum.golang.org"
	crate = "index.crates.io static.crates.io"
	ruby  = "rubygems.org index.rubygems.org"
)

// tree writes files below a folder.
func tree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func hosts(line, project, home string, environ map[string]string) string {
	at := Place{Dir: project, Project: project, Home: home, Getenv: func(name string) string { return environ[name] }}
	return strings.Join(Hosts(line, at), " ")
}

// K-47: what installs is known before it starts, in the forms in which models write it.
func TestHosts(t *testing.T) {
	t.Parallel()
	project, home := t.TempDir(), t.TempDir()
	tree(t, project, map[string]string{
		"package.json":             `{"scripts":{"setup":"npm ci","pretest":"npm run setup","test":"vitest run","build":"tsc","loop":"npm run loop","dev":"vite"}}`,
		"node_modules/.bin/vitest": "",
		"node_modules/.bin/tsc":    "",
		"web/package.json":         `{}`,
		"go.mod":                   "module example.com/day\n\ngo 1.26\n\nrequire example.com/a v1.2.3\n\nrequire (\n\tgithub.com/B/c v0.1.0\n\texample.com/far v1.0.0 // indirect\n)\n",
		"vend/go.mod":              "module example.com/v\n\nrequire example.com/none v1.0.0\n",
		"vend/vendor/modules.txt":  "",
		"repl/go.mod":              "module example.com/r\n\nrequire example.com/none v1.0.0\n\nreplace example.com/none => ../none\n",
		"lack/go.mod":              "module example.com/l\n\nrequire (\n\texample.com/none v1.0.0\n)\n",
		"Cargo.toml":               "[package]\nname = \"x\"\n[dependencies]\nserde = \"1\"\n",
		"Cargo.lock":               "version = 4\n\n[[package]]\nname = \"x\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"serde\"\nversion = \"1.0.1\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n",
		"crates/new/Cargo.toml":    "[package]\nname = \"new\"\n",
		"Makefile":                 "X := 1\n.PHONY: all setup\nall: build\n\tgo build ./...\nsetup:\n\t@npm ci\n\t-pip install x\nloop:\n\tmake loop\n",
		"setup.sh":                 "#!/bin/sh\nset -e\npip install -r requirements.txt\n",
		"requirements.txt":         "requests\n",
		"private.txt":              "--index-url https://pypi.corp.example/simple\nrequests\n",
		"synced/.venv/pyvenv.cfg":  "",
		"again.mjs":                "import { spawnSync } from 'node:child_process'\nspawnSync('npm', ['ci'], { stdio: 'inherit' })\n",
		"again.py":                 "import subprocess\nsubprocess.run([\"npm\", \"ci\", \"--no-audit\"])\n",
		"again.js":                 "require('child_process').execSync(`npm clean-install`)\n",
		"again":                    "#!/usr/bin/env node\nexecFileSync('npm.cmd', ['ci'])\n",
		"words.mjs":                "console.log('npm is circular, see npm city; npm install was run')\n",
	})
	tree(t, home, map[string]string{
		"go/pkg/mod/cache/download/example.com/a/@v/v1.2.3.zip":     "",
		"go/pkg/mod/cache/download/github.com/!b/c/@v/v0.1.0.zip":   "",
		".cargo/registry/cache/index.crates.io-1/serde-1.0.1.crate": "",
	})
	for line, want := range map[string]string{
		"npm ci": npm, "npm install": npm, "npm i left-pad": npm, "npm --prefix web ci": npm, "cd web && npm install": npm, "npm install 2>&1 | tail -5": npm,
		"bash -c 'npm ci'": npm, "timeout 60 npm ci": npm, "env CI=1 npm ci": npm, "npm it": npm, "(cd web; npm ci) && npm test": npm, "npm audit": npm, "npm create vite@latest": npm,
		"npm ci --offline": "", "npm run build": "", "npm run setup": npm, "npm test": npm, "npm t": npm, "npm run loop": "", "npm ls": "", "npm init -y": "", "npm pack": "", "node x.js": "",
		"npx vitest run": "", "npx cowsay hi": npm, "npx -y cowsay hi": npm, "npx --no-install cowsay": "", "npm exec tsc": "", "cd web && npx tsc": "", "npm exec -- cowsay": npm,
		"pnpm install": npm, "pnpm add -D vitest": npm, "pnpm dlx cowsay": npm, "pnpm build": "", "pnpm exec tsc": "", "yarn": yarn, "yarn add x": yarn, "yarn build": "", "yarn --frozen-lockfile": yarn,
		"bun install": npm, "bunx cowsay": npm, "bun run build": "", "corepack enable": npm + " repo.yarnpkg.com", "deno add jsr:@std/fs": npm + " jsr.io deno.land",
		"npx playwright install chromium": npm,
		"node again.mjs":                  npm, "python3 again.py": npm, "cd web && node ../again.js": npm, "./again": npm, "node words.mjs": "", "timeout 9 node ./again.mjs --x": npm, "cat again.mjs": "",
		"pip install requests": pypi, "pip3 install -r requirements.txt": pypi, "python3 -m pip install x": pypi, "python -m pip list": "", "pip list": "", "pip install --no-index x": "", "pip freeze": "",
		"pip install -r private.txt": "pypi.corp.example", "pip install -i https://pypi.corp.example:8443/simple x": "pypi.corp.example:8443",
		"./setup.sh": pypi, "sh setup.sh": pypi, "uv sync": pypi, "uv pip install x": pypi, "uv pip list": "", "uv run pytest": pypi, "cd synced && uv run pytest": "", "uvx ruff check": pypi,
		"poetry install": pypi, "pipx run black .": pypi, "python3 -m venv .venv": "", "python3 -m venv .venv && .venv/bin/pip install x": pypi, "pytest": "",
		"go get example.com/new@latest": gosum, "go get example.com/a@v1.2.3": "", "go install example.com/cmd@v1": gosum, "go install ./...": "", "go mod download": gosum, "go build ./...": "", "go test ./...": "",
		"go mod init x": "", "go mod tidy": "", "cd vend && go build": "", "cd repl && go test ./...": "", "cd lack && go vet ./...": gosum, "go -C lack build": gosum, "go fmt ./...": "", "go version": "", "go env": "",
		"cargo build": "", "cargo add rand": crate, "cargo test --offline": "", "cargo fetch": crate, "cargo install ripgrep": crate, "cd crates/new && cargo check": "", "cargo +nightly update": crate, "cargo fmt": "",
		"bundle install": ruby, "gem install rake": ruby, "gem list": "", "composer install": "repo.packagist.org", "dotnet restore": "api.nuget.org", "rustup component add clippy": "static.rust-lang.org",
		"make": "", "make all": "", "make setup": npm + " " + pypi, "make loop": "", "make -C web setup": "", "echo npm ci": "", "git log --grep 'npm install'": "", "npm": "", "": "", "grep -rn 'pip install' docs": "", "npm ci; go mod download; pip install x": npm + " " + gosum + " " + pypi,
	} {
		if got := hosts(line, project, home, nil); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// Private registries take the place of the public one, or stand beside it.
func TestPrivateRegistries(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		line, want    string
		project, home map[string]string
		environ       map[string]string
	}{
		{"npm ci", "npm.corp.example", map[string]string{".npmrc": "registry=https://npm.corp.example/\n"}, nil, nil},
		{"npm ci", "npm.corp.example:8443", nil, map[string]string{".npmrc": "registry = https://npm.corp.example:8443/npm/\n"}, nil},
		{"npm ci", "npm.corp.example " + npm, map[string]string{".npmrc": "@corp:registry=https://npm.corp.example\n//npm.corp.example/:_authToken=secret\n"}, nil, nil},
		{"pnpm i", "npm.corp.example", nil, nil, map[string]string{"npm_config_registry": "https://npm.corp.example"}},
		{"npm i --registry=https://npm.corp.example", "npm.corp.example", map[string]string{".npmrc": "registry=https://other.example"}, nil, nil},
		{"yarn install", "yarn.corp.example", map[string]string{".yarnrc.yml": "npmRegistryServer: \"https://yarn.corp.example\"\n"}, nil, nil},
		{"bun install", "bun.corp.example", map[string]string{"bunfig.toml": "[install]\nregistry = \"https://bun.corp.example\"\n"}, nil, nil},
		{"pip install x", "pip.corp.example", nil, map[string]string{".config/pip/pip.conf": "[global]\nindex-url = https://user:pw@pip.corp.example/simple\n"}, nil},
		{"pip install x", "pip.corp.example " + pypi, nil, map[string]string{".pip/pip.conf": "[global]\nextra-index-url = https://pip.corp.example/simple\n"}, nil},
		{"pip install x", "pip.corp.example", nil, nil, map[string]string{"PIP_INDEX_URL": "https://pip.corp.example/simple"}},
		{"uv sync", "uv.corp.example", nil, nil, map[string]string{"UV_DEFAULT_INDEX": "https://uv.corp.example/simple"}},
		{"go get x.example/y", "goproxy.cn sum.golang.org", nil, nil, map[string]string{"GOPROXY": "https://goproxy.cn,direct"}},
		{"go get x.example/y", "goproxy.corp.example", nil, map[string]string{".config/go/env": "GOPROXY=https://goproxy.corp.example|direct\nGOSUMDB=off\n"}, nil},
		{"go get x.example/y", "", nil, nil, map[string]string{"GOPROXY": "off"}},
		{"cargo fetch", "crates.corp.example", map[string]string{".cargo/config.toml": "[source.crates-io]\nreplace-with = \"corp\"\n[source.corp]\nregistry = \"sparse+https://crates.corp.example/index/\"\n"}, nil, nil},
		{"cargo fetch", "crates.corp.example " + crate, nil, map[string]string{".cargo/config.toml": "[registries.corp]\nindex = \"https://crates.corp.example/git\"\n"}, nil},
		{"npm ci", npm, map[string]string{".npmrc": "registry=file:///etc/passwd\nregistry=\n=\n"}, nil, nil},
	} {
		project, home := t.TempDir(), t.TempDir()
		tree(t, project, row.project)
		tree(t, home, row.home)
		if got := hosts(row.line, project, home, row.environ); got != row.want {
			t.Errorf("%s with %v, %v: %q, want %q", row.line, slices.Collect(maps.Values(row.project)), row.environ, got, row.want)
		}
	}
}

// What a confined command has fetched counts as there.
func TestWhatConfinedCommandsKeepIsThere(t *testing.T) {
	t.Parallel()
	project, home, kept := t.TempDir(), t.TempDir(), t.TempDir()
	tree(t, project, map[string]string{
		"go.mod":     "module m\n\nrequire example.com/a v1.0.0\n",
		"Cargo.toml": "[dependencies]\n",
		"Cargo.lock": "[[package]]\nname = \"serde\"\nversion = \"1.0.0\"\nsource = \"registry+https://x\"\n",
	})
	at := Place{Dir: project, Project: project, Home: home, Kept: func(path string) []string {
		rel, err := filepath.Rel(home, path)
		if err != nil {
			return nil
		}
		return []string{filepath.Join(kept, rel)}
	}}
	for _, line := range []string{"go build", "go test ./...", "go mod tidy", "cargo build", "cargo test"} {
		if len(Hosts(line, at)) == 0 {
			t.Errorf("%s: needs nothing", line)
		}
	}
	tree(t, kept, map[string]string{"go/pkg/mod/example.com/a@v1.0.0/go.mod": "", ".cargo/registry/cache/x/serde-1.0.0.crate": ""})
	for _, line := range []string{"go build", "go test ./...", "go mod tidy", "cargo build", "cargo test"} {
		if got := Hosts(line, at); len(got) > 0 {
			t.Errorf("%s: %v", line, got)
		}
	}
}

// Nothing that a project can hold takes long or is followed without end.
func TestHostsIsBounded(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	many := strings.Repeat("@s:registry=https://a.example\n", 5) + "registry=https://b.example\n"
	for i := range 100 {
		many += "@s:registry=https://h" + strings.Repeat("x", i) + ".example\n"
	}
	tree(t, project, map[string]string{
		"package.json": `{"scripts":{"a":"npm run b && npm run b","b":"npm run a && npm run a"}}`,
		".npmrc":       many,
		"big.sh":       strings.Repeat("# x\n", maxFile),
		"go.mod":       "require (\n" + strings.Repeat("example.com/a v1.0.0\n", 100_000),
	})
	if err := os.Symlink("loop.sh", filepath.Join(project, "loop.sh")); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]int{"npm run a": 0, "npm ci": maxHosts, "sh big.sh": 0, "sh loop.sh": 0, "go build": 0} {
		if got := Hosts(line, Place{Dir: project, Project: project}); len(got) != want {
			t.Errorf("%s: %d hosts, want %d", line, len(got), want)
		}
	}
}
