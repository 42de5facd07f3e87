package registry

import (
	"path/filepath"
	"slices"
	"strings"
)

// pythonInstalls are the commands that install, of each program; an empty list means
// all.
var pythonInstalls = map[string][]string{
	"pip": {"install", "download", "wheel", "index"},
	"uv":  {"add", "sync", "lock", "pip", "tool", "run", "venv"}, "uvx": {},
	"poetry": {"add", "install", "update", "lock", "self"},
	"pdm":    {"add", "install", "update", "lock", "sync"},
	"pipenv": {"install", "update", "sync", "lock"},
	"pipx":   {"install", "run", "inject", "upgrade"},
}

// python looks at pip and its like.
func (q *query) python(name string, args []string, dir string) {
	installs := pythonInstalls[name]
	word := first(args)
	if len(installs) > 0 && !slices.Contains(installs, word) {
		return
	}
	switch rest := words(args); {
	case name == "uv" && word == "run" && q.hasEnvironment(dir), name == "uv" && word == "venv" && !has(args, "--seed"):
		return
	case name == "uv" && word == "pip" && (len(rest) < 2 || !slices.Contains([]string{"install", "sync", "compile"}, rest[1])):
		return
	case name == "uv" && word == "tool" && (len(rest) < 2 || !slices.Contains([]string{"install", "run", "upgrade"}, rest[1])):
		return
	}
	isMoved := q.addresses(values(args, "-i", "--index-url", "--index", "--default-index")...)
	q.addresses(values(args, "--extra-index-url")...)
	for _, name := range []string{"PIP_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX"} {
		isMoved = q.addresses(q.variable(name)) || isMoved
	}
	q.addresses(strings.Fields(q.variable("PIP_EXTRA_INDEX_URL"))...)
	files := []string{"/etc/pip.conf"}
	if q.at.Home != "" {
		files = append(files, filepath.Join(q.at.Home, ".config/pip/pip.conf"), filepath.Join(q.at.Home, ".pip/pip.conf"))
	}
	if env := q.variable("VIRTUAL_ENV"); env != "" {
		files = append(files, filepath.Join(env, "pip.conf"))
	}
	for _, file := range files {
		isMoved = q.pipSettings(file, "index-url", "extra-index-url") || isMoved
	}
	for _, file := range values(args, "-r", "--requirement", "-c", "--constraint") {
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		isMoved = q.pipSettings(file, "--index-url", "--extra-index-url") || isMoved
	}
	if !isMoved {
		q.add("pypi.org", "files.pythonhosted.org")
	}
}

// hasEnvironment reports whether a project has packages of its own already.
func (q *query) hasEnvironment(dir string) (found bool) {
	q.above(dir, func(dir string) bool {
		found = exists(filepath.Join(dir, ".venv"))
		return found
	})
	return found
}

// pipSettings adds the indexes that a file names, one instead of the public one and
// others beside it, and reports whether there is one instead of it.
func (q *query) pipSettings(file, instead, beside string) (isMoved bool) {
	for line := range strings.Lines(string(content(file, maxFile))) {
		fields := strings.Fields(strings.Replace(line, "=", " ", 1))
		if len(fields) < 2 {
			continue
		}
		switch fields[0] {
		case instead:
			isMoved = q.addresses(fields[1]) || isMoved
		case beside:
			q.addresses(fields[1:]...)
		}
	}
	return isMoved
}
