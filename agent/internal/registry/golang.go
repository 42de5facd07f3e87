package registry

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// golang looks at the go command.
func (q *query) golang(args []string, dir string) {
	for _, where := range values(args, "-C") {
		if !filepath.IsAbs(where) {
			where = filepath.Join(dir, where)
		}
		dir = where
	}
	word, rest := subcommand(args, "get", "install", "mod", "work", "build", "test", "run", "vet", "list", "generate", "tool")
	asked := words(rest)
	switch {
	case word == "":
		return
	case word == "get", word == "install" && slices.ContainsFunc(asked, versioned), word == "run" && slices.ContainsFunc(asked, versioned):
		for _, arg := range asked {
			path, version, named := strings.Cut(arg, "@")
			if word != "get" || !named || !strings.HasPrefix(version, "v") || !q.hasModule(path, version) {
				q.proxies()
				return
			}
		}
		if len(asked) > 0 {
			return
		}
	case word == "mod" && !slices.Contains([]string{"download", "tidy", "vendor", "why", "graph", "verify"}, first(rest)), word == "work" && first(rest) != "sync":
		return
	}
	if word != "mod" && (exists(filepath.Join(dir, "vendor", "modules.txt")) || has(args, "-mod=vendor")) {
		return
	}
	q.above(dir, func(dir string) bool {
		data := content(filepath.Join(dir, "go.mod"), maxFile)
		if data == nil {
			return false
		}
		if q.lacksModules(string(data), word == "mod" && first(rest) == "download") {
			q.proxies()
		}
		return true
	})
}

func versioned(arg string) bool { return strings.Contains(arg, "@") }

// lacksModules reports whether modules that a go.mod requires are not there. A build
// needs only some of those that are required indirectly, so that those count only if
// all are asked for.
func (q *query) lacksModules(gomod string, all bool) bool {
	block, checked := "", 0
	replaced := map[string]bool{}
	var required [][2]string
	for line := range strings.Lines(gomod) {
		text, comment, _ := strings.Cut(line, "//")
		fields := strings.Fields(text)
		switch {
		case len(fields) == 2 && fields[1] == "(":
			block = fields[0]
			continue
		case len(fields) == 1 && fields[0] == ")":
			block = ""
			continue
		case block == "" && len(fields) > 0:
			fields = append([]string{fields[0]}, fields[1:]...)
		case block != "":
			fields = append([]string{block}, fields...)
		}
		switch {
		case len(fields) >= 3 && fields[0] == "replace":
			replaced[fields[1]] = true
		case len(fields) == 3 && fields[0] == "require" && (all || !strings.Contains(comment, "indirect")):
			required = append(required, [2]string{fields[1], fields[2]})
		}
	}
	for _, m := range required {
		if checked++; checked > maxChecked {
			break
		}
		if !replaced[m[0]] && !q.hasModule(m[0], m[1]) {
			return true
		}
	}
	return false
}

// hasModule reports whether a module is in the cache.
func (q *query) hasModule(path, version string) bool {
	return slices.ContainsFunc(q.home(q.moduleCache()), func(cache string) bool {
		return exists(filepath.Join(cache, "cache", "download", escaped(path), "@v", escaped(version)+".zip")) ||
			exists(filepath.Join(cache, escaped(path)+"@"+escaped(version)))
	})
}

func (q *query) moduleCache() string {
	if dir := q.goVariable("GOMODCACHE"); dir != "" {
		return dir
	}
	if dir := q.goVariable("GOPATH"); dir != "" {
		first, _, _ := strings.Cut(dir, string(filepath.ListSeparator))
		return filepath.Join(first, "pkg", "mod")
	}
	return filepath.Join(q.at.Home, "go", "pkg", "mod")
}

// escaped writes a path as the cache does: "!a" for "A".
func escaped(path string) string {
	var b strings.Builder
	for _, c := range path {
		if unicode.IsUpper(c) {
			b.WriteByte('!')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// goVariable returns a variable of the go command, which also keeps some in a file.
func (q *query) goVariable(name string) string {
	if value := q.variable(name); value != "" || q.at.Home == "" {
		return value
	}
	for line := range strings.Lines(string(content(filepath.Join(q.at.Home, ".config/go/env"), maxFile))) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
			return value
		}
	}
	return ""
}

// proxies adds the proxies of the go command, and what it checks sums with.
func (q *query) proxies() {
	list := q.goVariable("GOPROXY")
	if list == "off" {
		return
	}
	if list == "" {
		list = "https://proxy.golang.org"
	}
	for _, proxy := range strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == '|' }) {
		q.addresses(proxy)
	}
	switch sums := q.goVariable("GOSUMDB"); sums {
	case "off":
	case "":
		q.add("sum.golang.org")
	default:
		if fields := strings.Fields(sums); !q.addresses(fields[len(fields)-1]) {
			name, _, _ := strings.Cut(fields[0], "+")
			q.add(name)
		}
	}
}
