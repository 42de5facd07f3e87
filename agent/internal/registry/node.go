package registry

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// npmHost and yarnHost are the public registries.
const (
	npmHost  = "registry.npmjs.org"
	yarnHost = "registry.yarnpkg.com"
)

// The commands of npm, pnpm, yarn and bun, with npm's abbreviations.
var (
	nodeInstalls = strings.Fields(`install i in ins inst insta instal isnt isnta isntal isntall add a ci clean-install ic install-clean isntall-clean
		it install-test cit install-ci-test clean-install-test sit update up upgrade udpate audit outdated view v info show search`)
	nodeRunners = strings.Fields("exec x dlx create init innit")
	nodeScripts = strings.Fields("run run-script test t tst start stop restart build dev lint")
)

// node looks at npm and its like.
func (q *query) node(name string, args []string, dir string) {
	for _, where := range values(args, "--prefix", "-C", "--dir", "--cwd") {
		if !filepath.IsAbs(where) {
			where = filepath.Join(dir, where)
		}
		dir = where
	}
	known := slices.Concat(nodeInstalls, nodeRunners, nodeScripts)
	word, rest := subcommand(args, known...)
	switch {
	case name == "npx" || name == "pnpx" || name == "bunx":
		q.fetched(name, args, dir)
	case slices.Contains(nodeInstalls, word):
		q.npm(name, args, dir)
	case slices.Contains(nodeRunners, word):
		if word == "init" && first(rest) == "" || word == "exec" && name != "npm" {
			return // it asks for a name, or runs what is installed
		}
		q.fetched(name, rest, dir)
	case word == "run" || word == "run-script":
		q.script(first(rest), dir)
	case word != "":
		q.script(map[string]string{"t": "test", "tst": "test"}[word], dir)
		q.script(word, dir)
	case name == "yarn" && first(args) == "":
		q.npm(name, args, dir)
	case name == "yarn" || name == "pnpm":
		q.script(first(args), dir)
	}
}

// fetched looks at a program that is fetched unless the project has it.
func (q *query) fetched(name string, args []string, dir string) {
	tool := first(args)
	if named := values(args, "-p", "--package"); len(named) > 0 {
		tool = named[0]
	}
	if tool == "" || has(args, "--no-install", "--no") {
		return
	}
	found := false
	q.above(dir, func(dir string) bool {
		found = exists(filepath.Join(dir, "node_modules", ".bin", filepath.Base(tool)))
		return found
	})
	switch {
	case !found:
		q.npm(name, args, dir)
	case tool == "playwright":
		q.program(tool, words(args)[1:], dir)
	}
}

// script looks at a script of package.json, with those that run around it.
func (q *query) script(name, dir string) {
	if name == "" {
		return
	}
	var pkg struct {
		Scripts map[string]string `json:"scripts"`
	}
	q.above(dir, func(dir string) bool {
		data := content(filepath.Join(dir, "package.json"), maxFile)
		if data == nil || json.Unmarshal(data, &pkg) != nil {
			return false
		}
		for _, each := range []string{"pre" + name, name, "post" + name} {
			q.line(pkg.Scripts[each], dir, q.depth+1)
		}
		return true
	})
}

// npm adds the registries that the settings of npm and yarn name, or the public one.
func (q *query) npm(name string, args []string, dir string) {
	if q.addresses(values(args, "--registry")...) {
		return
	}
	isMoved := q.addresses(q.variable("npm_config_registry")) || q.addresses(q.variable("NPM_CONFIG_REGISTRY"))
	settings := func(dir string) bool {
		for line := range strings.Lines(string(content(filepath.Join(dir, ".npmrc"), maxFile))) {
			key, value, _ := strings.Cut(line, "=")
			key = strings.TrimSpace(key)
			if key != "registry" && !strings.HasSuffix(key, ":registry") {
				continue
			}
			isMoved = q.addresses(strings.TrimSpace(value)) && key == "registry" || isMoved
		}
		for _, file := range []string{".yarnrc.yml", ".yarnrc", "bunfig.toml"} {
			for line := range strings.Lines(string(content(filepath.Join(dir, file), maxFile))) {
				words := strings.Fields(strings.NewReplacer("=", " ", `"`, " ").Replace(line))
				if len(words) == 2 && slices.Contains([]string{"npmRegistryServer:", "registry"}, words[0]) {
					isMoved = q.addresses(words[1]) || isMoved
				}
			}
		}
		return false
	}
	q.above(dir, settings)
	if q.at.Home != "" {
		settings(q.at.Home)
	}
	switch {
	case isMoved:
	case name == "yarn":
		q.add(yarnHost, npmHost)
	default:
		q.add(npmHost)
	}
}
