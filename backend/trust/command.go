package trust

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/command"
)

// Limits of what is read of a command (K-38), beside those of package command.
const (
	maxLine  = 64 << 10 // that is searched for names
	maxDepth = 4        // of scripts in scripts
	maxLines = 100      // of commands in commands, and scripts
	maxNames = 2000     // that are looked up
	maxWork  = 2 << 20  // bytes of words
)

// naming is what a command names.
type naming struct {
	files   []named
	folders []string // absolute; all of their files may run
	notes   []Note
}

// named is a name that may be that of a file.
type named struct {
	path string // absolute
	run  bool   // it is run, not only named
}

// untold reports whether more may run than what is named.
func (n naming) untold() bool {
	return slices.ContainsFunc(n.notes, func(o Note) bool { return o.ID == NoteUntold || o.ID == NoteUnread || o.ID == NoteInline })
}

// names returns what a command names, in a folder. What runs is found out by the steps of
// package command; besides, each word that is the name of a file counts. Script returns
// the text of a shell script.
func names(c Command, folder, home string, script func(path string) string) naming {
	r := &reader{
		folder: folder, home: home, script: script, vars: map[string]string{"HOME": home},
		seen: map[named]bool{}, read: map[string]bool{},
	}
	for _, name := range []string{
		"CLAUDE_PROJECT_DIR", "AGENT_PROJECT_DIR", "COMATE_PROJECT_DIR", "HOOK_CWD", "COMATE_CWD", "COMATE_HOOK_CWD", "PWD",
	} {
		r.vars[name] = folder
	}
	r.dirs = []string{folder}
	if c.Dir != "" {
		r.dirs = append(r.dirs, r.places(r.placed(c.Dir))...)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		value := r.placed(c.Env[name])
		r.name(value, false)
		r.loads(name, value)
		r.vars[name] = value
	}
	switch {
	case c.Line == "" && c.Args == nil:
	case c.Args != nil:
		line := quoted(r.placed(c.Line))
		for _, arg := range c.Args {
			line += " " + quoted(r.placed(arg))
		}
		r.shell(line, 0)
	case c.Other:
		r.note(NoteUnread, "it is not for a POSIX shell")
		r.scan(c.Line)
	default:
		r.shell(c.Line, 0)
	}
	return r.naming
}

// reader reads commands.
type reader struct {
	naming
	folder, home string
	script       func(path string) string
	dirs         []string          // where relative names may begin
	vars         map[string]string // those that it is given
	seen         map[named]bool
	read         map[string]bool // scripts
	lines, work  int             // that were read, and bytes of words
	within       string          // the script that is being read; only what it runs counts
}

func (r *reader) note(id NoteID, args ...string) {
	n := note(id, args...)
	if r.within == "" && !slices.ContainsFunc(r.notes, func(o Note) bool { return o.Message == n.Message }) {
		r.notes = append(r.notes, n)
	}
}

// placeholder is a variable in an argument that no shell reads.
var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{?([A-Z_]+)\}?`) })

// placed fills the variables of an argument that no shell reads in.
func (r *reader) placed(text string) string {
	return placeholder().ReplaceAllStringFunc(text, func(m string) string {
		if v, ok := r.vars[strings.Trim(m, "${}")]; ok {
			return v
		}
		return m
	})
}

// quoted returns a text as a word of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// shell reads a line or a script for a shell, once for each folder in which it may begin.
func (r *reader) shell(text string, depth int) {
	if r.lines++; depth > maxDepth || r.lines > maxLines {
		r.note(NoteUnread, "it has too many commands in commands")
		return
	}
	file, ok := command.Parse(text)
	if !ok {
		r.note(NoteUnread, "it is too long, or no line of a shell")
		r.scan(text)
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if a, ok := n.(*syntax.Assign); ok && a.Name != nil && a.Value != nil && slices.Contains(loading, a.Name.Value) {
			var value strings.Builder
			_ = syntax.NewPrinter().Print(&value, a.Value)
			r.loads(a.Name.Value, r.placed(strings.Trim(value.String(), `"'`)))
		}
		return true
	})
	at := command.Place{Project: r.folder, Home: r.home, Vars: r.vars}
	for _, at.Dir = range slices.Clone(r.dirs) {
		steps, effects := command.Trace(text, at)
		for _, s := range steps {
			r.step(s, depth)
		}
		if slices.ContainsFunc(effects, func(e agent.Effect) bool { return e.ID == agent.EffectTooLong }) {
			r.note(NoteUnread, "it is too long once its variables are filled in")
			r.scan(text)
		}
	}
}

// loading are variables that make programs load other files.
var loading = []string{"PATH", "BASH_ENV", "ENV", "LD_PRELOAD", "LD_LIBRARY_PATH", "NODE_OPTIONS", "NODE_PATH", "PYTHONPATH", "PYTHONSTARTUP", "PERL5LIB", "PERL5OPT", "RUBYOPT", "RUBYLIB"}

// loads notes the folders and files that the value of such a variable names.
func (r *reader) loads(variable, value string) {
	if !slices.Contains(loading, variable) {
		return
	}
	for part := range strings.SplitSeq(value, ":") {
		for _, path := range r.places(part) {
			r.runsBelow(path, variable)
		}
	}
	r.name(value, false)
}

// runsBelow notes that any file of a folder may run.
func (r *reader) runsBelow(dir, source string) {
	if dir == r.folder {
		r.note(NoteUntold, source)
	} else if r.inside(dir) {
		r.folders = append(r.folders, dir)
	}
}

// name notes that a word may be the name of a file, or have such names in it.
func (r *reader) name(text string, run bool) {
	if r.work += len(text); r.work > maxWork {
		r.note(NoteUnread, "it is too long once its variables are filled in")
		return
	}
	if strings.ContainsAny(text, " \n\t'\"();") {
		r.scan(text)
	}
	r.file(text, run)
	if _, value, ok := strings.Cut(text, "="); ok {
		r.file(value, false)
	}
	r.file(strings.TrimLeft(text, "@-"), false)
	for part := range strings.SplitSeq(text, ":") {
		r.file(part, false)
	}
}

// token is what may be a name in text of any kind.
var token = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[^\\s'\"`;|&()<>=:,{}\\[\\]\\x00]+") })

// scan notes everything in a text that may be the name of a file.
func (r *reader) scan(text string) {
	for _, t := range token().FindAllString(text[:min(len(text), maxLine)], maxNames) {
		r.file(r.placed(t), false)
	}
}

// places returns where a name may lead.
func (r *reader) places(name string) []string {
	switch {
	case name == "" || strings.Contains(name, "\x00") || len(name) > 4096:
		return nil
	case name == "~" || strings.HasPrefix(name, "~/"):
		return []string{filepath.Join(r.home, name[1:])}
	case filepath.IsAbs(name):
		return []string{filepath.Clean(name)}
	}
	var out []string
	for _, dir := range r.dirs {
		out = append(out, filepath.Join(dir, filepath.FromSlash(name)))
	}
	return out
}

func (r *reader) inside(path string) bool {
	return path == r.folder || strings.HasPrefix(path, r.folder+string(filepath.Separator))
}

func (r *reader) file(name string, run bool) {
	if r.within != "" && !run {
		return
	}
	for _, path := range r.places(name) {
		if i := strings.IndexAny(path, "*?["); i >= 0 && run {
			r.runsBelow(filepath.Dir(path[:i]+"x"), clip(name))
			continue
		}
		n := named{path, run}
		if r.seen[n] || len(r.seen) >= maxNames {
			continue
		}
		r.seen[n] = true
		r.files = append(r.files, n)
	}
}

// follow reads a script of the project for what it runs.
func (r *reader) follow(path string, depth int) {
	if r.read[path] || len(r.read) >= maxFiles {
		return
	}
	r.read[path] = true
	text := r.script(path)
	if text == "" {
		return
	}
	before := *r
	r.within, r.vars = path, maps.Clone(r.vars)
	r.vars["0"], r.vars["BASH_SOURCE"] = path, path
	r.shell(text, depth+1)
	r.within, r.vars = before.within, before.vars
}

// clip shortens a text for a sentence, on one line.
func clip(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	if runes := []rune(text); len(runes) > 80 {
		text = string(runes[:79]) + "…"
	}
	return text
}
