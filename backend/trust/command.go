package trust

import (
	"errors"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Limits of what is read of a command (K-38).
const (
	maxLine     = 64 << 10
	maxBrackets = 400
	maxDepth    = 4       // of shells in shells, and of scripts in scripts
	maxLines    = 100     // of commands in commands, and scripts
	maxNames    = 2000    // that are looked up
	maxValues   = 8       // of a variable
	maxWork     = 2 << 20 // bytes of values
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

// names returns what a command names, in a folder. Script returns the text of a
// shell script.
func names(c Command, folder, home string, script func(path string) string) naming {
	r := &reader{
		folder: folder, home: home, script: script, dirs: []string{folder}, vars: map[string][]string{"HOME": {home}},
		seen: map[named]bool{}, read: map[string]bool{},
	}
	for _, name := range []string{
		"CLAUDE_PROJECT_DIR", "AGENT_PROJECT_DIR", "COMATE_PROJECT_DIR", "HOOK_CWD", "COMATE_CWD", "COMATE_HOOK_CWD", "PWD",
	} {
		r.vars[name] = []string{folder}
	}
	r.surround(c)
	switch {
	case c.Line == "" && c.Args == nil:
	case c.Args != nil:
		words := []word{r.placed(c.Line)}
		for _, arg := range c.Args {
			words = append(words, r.placed(arg))
		}
		r.call(words, 0)
	case c.Other:
		r.note(NoteUnread, "it is not for a POSIX shell")
		r.scan(c.Line)
	default:
		r.shell(c.Line, 0)
	}
	return r.naming
}

// surround notes where a command starts, and its variables.
func (r *reader) surround(c Command) {
	if c.Dir != "" {
		r.enters([]word{r.placed(c.Dir)})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		value := r.placed(c.Env[name])
		for _, v := range value.values {
			r.name(v, false)
		}
		r.takes(name, value)
	}
}

// reader reads commands.
type reader struct {
	naming
	folder, home string
	script       func(path string) string
	dirs         []string            // where relative names may begin
	vars         map[string][]string // the values that variables may have
	seen         map[named]bool
	read         map[string]bool // scripts
	lines, work  int             // that were read, and bytes of values
	within       string          // the script that is being read; only what it runs counts
}

// word is a word of a command, with the values that it may have.
type word struct {
	values []string
	known  bool // there are no others
	source string
}

func (r *reader) note(id NoteID, args ...string) {
	n := note(id, args...)
	if r.within == "" && !slices.ContainsFunc(r.notes, func(o Note) bool { return o.Message == n.Message }) {
		r.notes = append(r.notes, n)
	}
}

// placeholder is a variable in an argument that no shell reads.
var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{?([A-Z_]+)\}?`) })

func (r *reader) placed(text string) word {
	text = placeholder().ReplaceAllStringFunc(text, func(m string) string {
		if v := r.vars[strings.Trim(m, "${}")]; len(v) == 1 {
			return v[0]
		}
		return m
	})
	return word{[]string{text}, true, clip(text)}
}

// shell reads a line or a script for a shell.
func (r *reader) shell(text string, depth int) {
	if r.lines++; depth > maxDepth || r.lines > maxLines {
		r.note(NoteUnread, "it has too many commands in commands")
		return
	}
	brackets := 0
	for _, c := range text {
		if strings.ContainsRune("({[`", c) {
			brackets++
		}
	}
	var file *syntax.File
	err := errors.New("it is too long")
	if len(text) <= maxLine && brackets <= maxBrackets {
		file, err = syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	}
	if err != nil {
		r.note(NoteUnread, clip(err.Error()))
		r.scan(text)
		return
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.Assign:
			r.assign(n)
		case *syntax.ForClause:
			if iter, ok := n.Loop.(*syntax.WordIter); ok {
				for _, item := range iter.Items {
					r.set(iter.Name.Value, r.word(item))
				}
			}
		case *syntax.Redirect:
			r.redirect(n)
		case *syntax.CallExpr:
			var words []word
			for _, arg := range n.Args {
				for _, one := range r.braces(arg) {
					words = append(words, r.word(one))
				}
			}
			r.call(words, depth)
		}
		return true
	})
}

// maxBraces limits the words that one with braces stands for.
const maxBraces = 64

// braces returns the words that a word with braces stands for.
func (r *reader) braces(w *syntax.Word) []*syntax.Word {
	split := &syntax.Word{Parts: slices.Clone(w.Parts)} // syntax.Walk knows no braces
	if !syntax.SplitBraces(split) {
		return []*syntax.Word{w}
	}
	var out []*syntax.Word
	for one, err := range expand.BracesSeq(&expand.Config{}, split) {
		if err != nil || len(out) == maxBraces {
			r.note(NoteUntold, r.word(w).source)
			break
		}
		out = append(out, one)
	}
	return out
}

// loading are variables that make programs load other files.
var loading = []string{"PATH", "BASH_ENV", "ENV", "LD_PRELOAD", "LD_LIBRARY_PATH", "NODE_OPTIONS", "NODE_PATH", "PYTHONPATH", "PYTHONSTARTUP", "PERL5LIB", "PERL5OPT", "RUBYOPT", "RUBYLIB"}

func (r *reader) assign(a *syntax.Assign) {
	if a.Name == nil || a.Value == nil {
		return
	}
	r.takes(a.Name.Value, r.word(a.Value))
}

// takes notes the value of a variable.
func (r *reader) takes(variable string, w word) {
	if !slices.Contains(loading, variable) {
		r.set(variable, w)
		return
	}
	for _, value := range w.values {
		for part := range strings.SplitSeq(value, ":") {
			for _, path := range r.places(part) {
				if r.inside(path) && path != r.folder {
					r.folders = append(r.folders, path)
				} else if path == r.folder {
					r.note(NoteUntold, variable)
				}
			}
		}
		r.name(value, false)
	}
}

func (r *reader) set(name string, w word) {
	values := append(slices.Clone(r.vars[name]), w.values...)
	if slices.Sort(values); !w.known || len(slices.Compact(values)) > maxValues {
		values = append([]string{unknown}, values[:min(len(values), maxValues)]...)
	}
	r.vars[name] = slices.Compact(values)
}

// unknown stands for any value. It cannot be part of a path.
const unknown = "\x00"

func (r *reader) redirect(n *syntax.Redirect) {
	if n.Hdoc != nil {
		for _, value := range r.word(n.Hdoc).values {
			r.scan(value)
		}
	}
	if n.Word != nil && (n.Op == syntax.RdrIn || n.Op == syntax.RdrInOut || n.Op == syntax.WordHdoc) {
		for _, value := range r.word(n.Word).values {
			r.name(value, false)
		}
	}
}

// word returns the values that a word may have.
func (r *reader) word(w *syntax.Word) word {
	var source strings.Builder
	_ = syntax.NewPrinter().Print(&source, w)
	out := r.parts(w.Parts)
	out.source = clip(source.String())
	return out
}

func (r *reader) parts(parts []syntax.WordPart) word {
	out := word{values: []string{""}, known: true}
	for i, part := range parts {
		var next word
		switch p := part.(type) {
		case *syntax.Lit:
			text := unescaped(p.Value)
			if i == 0 && (text == "~" || strings.HasPrefix(text, "~/")) {
				text = r.home + text[1:]
			}
			next = word{values: []string{text}, known: true}
		case *syntax.SglQuoted:
			next = word{values: []string{p.Value}, known: true}
		case *syntax.DblQuoted:
			next = r.parts(p.Parts)
		case *syntax.ParamExp:
			next = r.parameter(p)
		case *syntax.CmdSubst:
			next = r.substitution(p)
		default:
			next = word{values: []string{unknown}}
		}
		out.known = out.known && next.known
		var joined []string
		for _, head := range out.values {
			for _, tail := range next.values {
				if len(head)+len(tail) > maxLine || !r.works(len(head)+len(tail)) {
					head, tail, out.known = "", unknown, false
				}
				if joined = append(joined, head+tail); len(joined) == 4*maxValues {
					out.values, out.known = joined, false
					return out
				}
			}
		}
		out.values = joined
	}
	return out
}

// works reports whether there is time left for that number of bytes.
func (r *reader) works(bytes int) bool {
	if r.work += bytes; r.work > maxWork {
		r.note(NoteUnread, "it is too long once its variables are filled in")
		return false
	}
	return true
}

func unescaped(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			if i++; text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

func (r *reader) parameter(p *syntax.ParamExp) word {
	if p.Param == nil || p.Excl || p.Length || p.Index != nil && p.Param.Value != "BASH_SOURCE" || p.Slice != nil || p.Repl != nil {
		return word{values: []string{unknown}}
	}
	var values []string
	if name := p.Param.Value; (name == "0" || name == "BASH_SOURCE") && r.within != "" {
		values = []string{r.within}
	} else {
		values = slices.Clone(r.vars[name])
	}
	known := len(values) > 0 && !slices.Contains(values, unknown)
	if p.Exp != nil {
		switch p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			if p.Exp.Word != nil {
				other := r.word(p.Exp.Word)
				values, known = append(values, other.values...), known && other.known
			}
		case syntax.RemSmallSuffix: // ${0%/*} is the folder of a script
			if known = known && p.Exp.Word != nil && p.Exp.Word.Lit() == "/*"; known {
				for i, v := range values {
					values[i] = filepath.Dir(v)
				}
			}
		default:
			known = false
		}
	}
	if len(values) == 0 || !known && !slices.Contains(values, unknown) {
		values = append(values, unknown)
	}
	return word{values: values, known: known}
}

// substitution knows the usual ways to name a folder: $(pwd), $(dirname "$0"),
// $(cd "$(dirname "$0")" && pwd), and the root of the repository.
func (r *reader) substitution(c *syntax.CmdSubst) word {
	var line strings.Builder
	for _, stmt := range c.Stmts {
		_ = syntax.NewPrinter().Print(&line, stmt)
	}
	text := strings.Trim(line.String(), " \n")
	switch {
	case text == "pwd" || text == "git rev-parse --show-toplevel" || text == "git rev-parse --show-toplevel 2>/dev/null":
		return word{values: []string{r.folder}, known: true}
	case r.within != "" && ownFolder().MatchString(text):
		return word{values: []string{filepath.Dir(r.within)}, known: true}
	}
	return word{values: []string{unknown}}
}

var ownFolder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(cd (-- )?"?\$\()?dirname (-- )?"?\$(0|\{0\}|BASH_SOURCE|\{BASH_SOURCE(\[0\])?(:-\$0)?\})"?(\)"? (&& |>/dev/null 2>&1 && )pwd( -P)?)?$`)
})

// name records that a word may be the name of a file, or have such names in it.
func (r *reader) name(text string, run bool) {
	if !r.works(len(text)) {
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

// scan records everything in a text that may be the name of a file.
func (r *reader) scan(text string) {
	for _, t := range token().FindAllString(text[:min(len(text), maxLine)], maxNames) {
		for _, v := range r.placed(t).values {
			r.file(v, false)
		}
	}
}

// places returns where a name may lead.
func (r *reader) places(name string) []string {
	switch {
	case name == "" || strings.Contains(name, unknown) || len(name) > 4096:
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
			if dir := filepath.Dir(path[:i] + "x"); r.inside(dir) && dir != r.folder {
				r.folders = append(r.folders, dir)
			} else if dir == r.folder {
				r.note(NoteUntold, clip(name))
			}
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
func (r *reader) follow(name string, depth int) {
	for _, path := range r.places(name) {
		if r.read[path] || len(r.read) >= maxFiles {
			continue
		}
		r.read[path] = true
		if text := r.script(path); text != "" {
			before := r.within
			r.within = path
			r.shell(text, depth+1)
			r.within = before
		}
	}
}

// clip shortens a text for a sentence, on one line.
func clip(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	if runes := []rune(text); len(runes) > 80 {
		text = string(runes[:79]) + "…"
	}
	return text
}
