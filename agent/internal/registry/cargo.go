package registry

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// cargo looks at the cargo command.
func (q *query) cargo(args []string, dir string) {
	args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.HasPrefix(arg, "+") })
	word := first(args)
	switch {
	case has(args, "--frozen"):
		return
	case slices.Contains(strings.Fields("add install update fetch search binstall generate-lockfile vendor"), word):
		q.crates(dir)
	case slices.Contains(strings.Fields("build b check c test t run r bench doc d clippy tree metadata nextest rustc package"), word):
		q.above(dir, func(dir string) bool {
			if !exists(filepath.Join(dir, "Cargo.toml")) {
				return false
			}
			locked := content(filepath.Join(dir, "Cargo.lock"), maxLocked)
			if locked == nil && filepath.Clean(dir) != filepath.Clean(q.at.Project) {
				return false // the lock is that of a workspace above
			}
			if locked == nil && strings.Contains(string(content(filepath.Join(dir, "Cargo.toml"), maxFile)), "dependencies") || q.lacksCrates(string(locked)) {
				q.crates(dir)
			}
			return true
		})
	}
}

// lacksCrates reports whether crates of a lock are not there.
func (q *query) lacksCrates(locked string) bool {
	have := map[string]bool{}
	for _, home := range q.home(filepath.Join(q.cargoHome(), "registry")) {
		crates, _ := filepath.Glob(filepath.Join(home, "cache", "*", "*.crate"))
		for _, crate := range crates {
			have[filepath.Base(crate)] = true
		}
	}
	for i, block := range strings.Split(locked, "[[package]]") {
		if i > maxChecked {
			return false
		}
		var name, version, source string
		for line := range strings.Lines(block) {
			key, value, _ := strings.Cut(line, " = ")
			value = strings.Trim(value, "\"\n")
			switch key {
			case "name":
				name = value
			case "version":
				version = value
			case "source":
				source = value
			}
		}
		if isRegistry := strings.HasPrefix(source, "registry+") || strings.HasPrefix(source, "sparse+"); isRegistry && !have[name+"-"+version+".crate"] {
			return true
		}
	}
	return false
}

func (q *query) cargoHome() string {
	if dir := q.variable("CARGO_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(q.at.Home, ".cargo")
}

// crateAddress finds the addresses of registries in cargo's settings.
var crateAddress = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*(?:registry|index)\s*=\s*"(?:sparse\+)?(https?://[^"]+)"`)
})

// crates adds the registries that cargo's settings name, or the public one.
func (q *query) crates(dir string) {
	isMoved := false
	settings := func(dir string) bool {
		for _, name := range []string{"config.toml", "config"} {
			data := string(content(filepath.Join(dir, name), maxFile))
			for _, found := range crateAddress().FindAllStringSubmatch(data, -1) {
				q.addresses(found[1])
			}
			isMoved = isMoved || strings.Contains(data, "replace-with")
		}
		return false
	}
	q.above(dir, func(dir string) bool { return settings(filepath.Join(dir, ".cargo")) })
	settings(q.cargoHome())
	if !isMoved {
		q.add("index.crates.io", "static.crates.io")
	}
}
