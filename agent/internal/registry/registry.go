// Package registry tells from which hosts a command line would install what is not on
// this computer, so that a person can be asked before it starts: some programs delete
// what is there before they notice that they reach nobody.
package registry

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/agent/command"
)

// Place is where a command line runs.
type Place struct {
	Dir     string // the folder in which it runs, absolute
	Project string // the project's folder, absolute
	Home    string // the user's; empty if it is unknown
	// Getenv returns a variable of the command's environment.
	Getenv func(name string) string
	// Kept returns where commands keep what they change at a path in the home; empty if
	// they change it itself. It may be nil.
	Kept func(path string) []string
}

// Limits of what is looked at.
const (
	maxHosts   = 16
	maxScripts = 4        // scripts that run scripts
	maxFile    = 1 << 20  // bytes of a file of settings
	maxLocked  = 16 << 20 // bytes of a list of packages
	maxChecked = 5000     // packages that are looked for
)

// Hosts returns the hosts from which a line of bash would install something, each
// once, as "name" or "name:port"; none if it installs nothing, or all is there. What
// cannot be told is left out.
func Hosts(line string, at Place) []string {
	q := &query{at: at}
	q.line(line, at.Dir, 0)
	return q.hosts
}

// query collects hosts.
type query struct {
	at    Place
	hosts []string
	depth int // scripts within scripts
}

// names are the beginnings of the programs that are known, so that other lines are
// not read at all.
var names = strings.Fields("npm npx pnpm pnpx yarn bun corepack deno pip uv poetry pdm pipenv pipx conda mamba playwright go cargo rustup gem bundle composer dotnet mix sh make node python tsx ts-node ruby perl ./")

func (q *query) line(line, dir string, depth int) {
	known := func(name string) bool { return strings.Contains(line, name) }
	if depth > maxScripts || !slices.ContainsFunc(names, known) {
		return
	}
	before := q.depth
	q.depth = depth
	defer func() { q.depth = before }()
	steps, _ := command.Trace(line, command.Place{Dir: dir, Project: q.at.Project, Home: q.at.Home, Exists: exists, Resolve: resolve})
	for _, step := range steps {
		if !step.Known || step.Own || len(step.Dirs) == 0 {
			continue
		}
		q.program(step.Program(), step.Args, step.Dirs[0])
		for _, script := range step.Scripts {
			if command.IsShell(step.Program()) || strings.HasSuffix(script, ".sh") {
				q.line(string(content(script, maxFile)), step.Dirs[0], depth+1)
			} else {
				q.code(content(script, maxFile), step.Dirs[0])
			}
		}
	}
}

// reinstalls finds in code of any language a program that deletes what is installed
// before it installs it again: as a line, or as a name with its arguments.
var reinstalls = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\\bnpm(?:\\.cmd)?[\"'`]?[\\s,\\[(]+[\"'`]?(?:ci|clean-install|install-clean|cit)\\b")
})

// code looks at a script that is not one of a shell. Programs that fail without having
// deleted anything are left to fail.
func (q *query) code(text []byte, dir string) {
	if reinstalls().Match(text) {
		q.npm("npm", nil, dir)
	}
}

// program looks at a program with its arguments.
func (q *query) program(name string, args []string, dir string) {
	if strings.HasPrefix(name, "python") && len(args) > 1 && args[0] == "-m" {
		name, args = args[1], args[2:]
	}
	if strings.HasPrefix(name, "pip3") {
		name = "pip"
	}
	if has(args, "--offline", "--help", "--version", "--no-index", "--frozen-offline") {
		return
	}
	switch name {
	case "npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx":
		q.node(name, args, dir)
	case "pip", "uv", "uvx", "poetry", "pdm", "pipenv", "pipx":
		q.python(name, args, dir)
	case "go":
		q.golang(args, dir)
	case "cargo":
		q.cargo(args, dir)
	case "make", "gmake":
		q.recipes(args, dir)
	default:
		for _, p := range others {
			if p.name == name && (p.installs == "" || slices.Contains(strings.Fields(p.installs), first(args))) {
				q.add(strings.Fields(p.hosts)...)
			}
		}
	}
}

// recipes looks at the recipes of targets in a makefile, without those of what they
// depend on.
func (q *query) recipes(args []string, dir string) {
	for _, where := range values(args, "-C", "--directory") {
		if !filepath.IsAbs(where) {
			where = filepath.Join(dir, where)
		}
		dir = where
	}
	var makefile []byte
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		if makefile = content(filepath.Join(dir, name), maxFile); makefile != nil {
			break
		}
	}
	targets, isFirst, isWanted := words(args), true, false
	var recipe strings.Builder
	for line := range strings.Lines(string(makefile)) {
		if text, ok := strings.CutPrefix(line, "\t"); ok {
			if isWanted {
				recipe.WriteString(strings.TrimLeft(text, "@-+ "))
			}
			continue
		}
		name, _, ok := strings.Cut(line, ":")
		if ok && !strings.HasPrefix(name, ".") && !strings.ContainsAny(name, "=#") {
			isWanted = slices.Contains(targets, strings.TrimSpace(name)) || isFirst && len(targets) == 0
			isFirst = false
		}
	}
	q.line(recipe.String(), dir, q.depth+1)
}

// others are programs whose settings are not looked at: which of their commands
// install, and from where.
var others = []struct{ name, installs, hosts string }{
	{"corepack", "enable prepare install use up", "registry.npmjs.org repo.yarnpkg.com"},
	{"deno", "install add cache", "registry.npmjs.org jsr.io deno.land"},
	{"playwright", "install", "cdn.playwright.dev"},
	{"conda", "install create update", "repo.anaconda.com conda.anaconda.org"},
	{"mamba", "install create update", "repo.anaconda.com conda.anaconda.org"},
	{"rustup", "install update toolchain component target", "static.rust-lang.org"},
	{"gem", "install update", "rubygems.org index.rubygems.org"},
	{"bundle", "install update add lock", "rubygems.org index.rubygems.org"},
	{"composer", "install require update create-project", "repo.packagist.org"},
	{"dotnet", "restore add tool", "api.nuget.org"},
	{"mix", "deps.get", "repo.hex.pm"},
}

// add adds hosts, each once.
func (q *query) add(hosts ...string) {
	for _, host := range hosts {
		if host != "" && len(q.hosts) < maxHosts && !slices.Contains(q.hosts, host) {
			q.hosts = append(q.hosts, host)
		}
	}
}

// addresses adds the hosts of addresses.
func (q *query) addresses(addresses ...string) (added bool) {
	for _, address := range addresses {
		if host := HostOf(address); host != "" {
			q.add(host)
			added = true
		}
	}
	return added
}

// HostOf returns the host of an address of the web, with its port if it is not the
// usual one; empty if it has none.
func HostOf(address string) string {
	u, err := url.Parse(strings.Trim(strings.TrimPrefix(address, "sparse+"), ` "'`))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	host := strings.ToLower(u.Host)
	return strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":80")
}

// above calls use for a folder and those above it, up to the project's.
func (q *query) above(dir string, use func(dir string) (found bool)) {
	for {
		if use(dir) {
			return
		}
		rel, err := filepath.Rel(q.at.Project, dir)
		if parent := filepath.Dir(dir); err != nil || rel == "." || !filepath.IsLocal(rel) || parent == dir {
			return
		} else {
			dir = parent
		}
	}
}

// home returns a path in the home folder, of which confined commands may keep
// changes elsewhere, as all places where the content may be.
func (q *query) home(path string) []string {
	if q.at.Kept == nil {
		return []string{path}
	}
	return append(q.at.Kept(path), path)
}

func (q *query) variable(name string) string {
	if q.at.Getenv == nil {
		return ""
	}
	return q.at.Getenv(name)
}

// words returns the arguments that are not options.
func words(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.HasPrefix(arg, "-") })
}

// first returns the first argument that is not an option.
func first(args []string) string {
	if rest := words(args); len(rest) > 0 {
		return rest[0]
	}
	return ""
}

// subcommand returns the first argument that is one of some words, and what follows it:
// a value of an option may stand before it.
func subcommand(args []string, known ...string) (word string, rest []string) {
	for i, arg := range args {
		if slices.Contains(known, arg) {
			return arg, args[i+1:]
		}
	}
	return "", nil
}

func has(args []string, options ...string) bool {
	return slices.ContainsFunc(args, func(arg string) bool { return slices.Contains(options, arg) })
}

// values returns the values of options, "--name value" or "--name=value".
func values(args []string, options ...string) (all []string) {
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		switch {
		case !slices.Contains(options, name):
		case joined:
			all = append(all, value)
		case i+1 < len(args):
			all = append(all, args[i+1])
		}
	}
	return all
}

// content returns a file of at most a size; empty if it is larger or cannot be read.
func content(path string, most int64) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return data
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func resolve(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
