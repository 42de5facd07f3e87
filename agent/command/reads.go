package command

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// The parser is recursive, and a stack overflow ends the program, so both
// limits are checked before it starts (K-38).
const (
	maxLine     = 32 << 10
	maxBrackets = 400
	// maxCommands is far more than a person or a model writes on one line.
	maxCommands = 50
)

// Reading is what a line reads. Its paths are as the programs will see them,
// without quotes and relative to Dir; none has ".." as an element.
//
// The line is harmless only if its surroundings are. The caller checks that
// bash finds the Programs outside the project, that the files of Paths and
// Patterns may be read, and that the configuration of a repository that Git
// reads runs nothing.
type Reading struct {
	// Dir is the folder to which the line changes first; empty for none.
	Dir string
	// Programs are looked up by bash on the PATH. Perhaps are those that the others
	// run if they are there.
	Programs, Perhaps []string
	// Paths are the named files and folders, and "." if a program reads the
	// folder in which it runs. A word that may be something else, such as a
	// revision, is included.
	Paths []string
	// Patterns are words that bash expands to names of files, in the syntax of
	// path/filepath's Match. A pattern that begins with "-" is an option unless
	// such a file exists.
	Patterns []string
	// Trees are the Paths below which whole files are read at any depth.
	// Symbolic links below them are not followed.
	Trees []string
	// Hidden says that hidden files in the Trees are read too.
	Hidden bool
	// Handed are folders of which programs are given the names of files.
	Handed []Handed
	// Tracked says that git may print text of any tracked file, but not from
	// commits.
	Tracked bool
	// Listings ask git for the files from which it would print committed text.
	Listings []Listing
	// Present are words that git takes for revisions if no such files exist.
	Present []string
	// Files are those of the Paths whose text is printed, from one line to
	// another, with nothing but line numbers added. They are printed if the
	// line succeeds.
	Files []string
	// Git says that a repository is read, and Remotes that addresses of its remotes
	// may be printed.
	Git, Remotes bool
}

// Read analyses a line; it reports false if any part is not known to only read.
func Read(line string) (Reading, bool) {
	if Hides(line) {
		return Reading{}, false
	}
	file, ok := Parse(line)
	if !ok || len(file.Stmts) == 0 {
		return Reading{}, false
	}
	var r reader
	stmts := unwrapped(file.Stmts)
	for _, s := range stmts {
		if !r.list(s, len(stmts) == 1) {
			return Reading{}, false
		}
	}
	if r.gitDir != "" {
		if r.Dir != "" || r.here {
			return Reading{}, false // it would read in two folders
		}
		r.Dir = r.gitDir
	}
	if r.sometimes || r.and && len(stmts) > 1 { // success does not tell what ran
		r.Files = nil
	}
	for _, list := range []*[]string{&r.Programs, &r.Perhaps, &r.Paths, &r.Patterns, &r.Trees, &r.Files} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return r.Reading, true
}

// maxUnsure limits what [Unsure] returns, in characters.
const maxUnsure = 120

// Unsure returns the innermost part of a line that is not known only to read, on one
// line and shortened. It is empty if the line is, or cannot be read.
func Unsure(line string) string {
	file, ok := Parse(line)
	if _, reads := Read(line); reads || !ok {
		return ""
	}
	found := ""
	syntax.Walk(file, func(node syntax.Node) bool {
		s, is := node.(*syntax.Stmt)
		if !is || len(s.Redirs) == 0 && !isSimple(s) {
			return true
		}
		from, to := s.Pos().Offset(), s.End().Offset()
		if from > to { // the parser does not know where some coprocesses are
			return true
		}
		text := strings.TrimRight(line[from:to], "; ")
		if _, reads := Read(text); reads {
			return false
		}
		if found == "" || len(text) < len(found) && strings.Contains(found, text) {
			found = text
		}
		return true
	})
	words := []rune(strings.Join(strings.Fields(found), " "))
	if len(words) > maxUnsure {
		return string(words[:maxUnsure]) + "…"
	}
	return string(words)
}

// isSimple reports whether a statement is one command and no compound one.
func isSimple(s *syntax.Stmt) bool {
	_, is := s.Cmd.(*syntax.CallExpr)
	return is
}

// Parse returns the syntax of a line; it reports false if the line is not valid,
// or too large or too deep to look at.
func Parse(line string) (*syntax.File, bool) {
	if len(line) > maxLine || !utf8.ValidString(line) {
		return nil, false
	}
	brackets := 0
	for _, c := range line {
		if strings.ContainsRune("([{`", c) {
			brackets++
		}
	}
	if brackets > maxBrackets {
		return nil, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	return file, err == nil
}

// Hides reports whether a line has characters that are displayed as something
// other than they are.
func Hides(line string) bool {
	return strings.ContainsFunc(line, func(c rune) bool {
		return c != '\n' && c != '\t' && (unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point))
	})
}

// reader collects the reading of a line.
type reader struct {
	Reading
	commands       int
	and, sometimes bool // there is a && or a ||
	gitDir         string
	here           bool            // a command reads in the folder of the line
	depth          int             // of what is within others
	values         map[string]word // of variables; never changed, only replaced
}

// list reads pipelines that are joined by && and ||. The line's only list may
// begin with a change of directory that the rest depends on.
func (r *reader) list(s *syntax.Stmt, only bool) bool {
	pipelines, or, ok := joined(s, nil, false)
	if !ok {
		return false
	}
	r.and, r.sometimes = r.and || len(pipelines) > 1, r.sometimes || or
	if only && !or && len(pipelines) > 1 {
		if dir, ok := changeDir(pipelines[0]); ok {
			r.Dir, pipelines = dir, pipelines[1:]
		}
	}
	before, certain := r.values, true
	for _, p := range pipelines {
		known, is := false, false
		if len(p) == 1 && !or {
			known, is = r.assignment(p[0])
		}
		if is && !known || !is && !r.pipeline(p) {
			return false
		}
		certain = certain && is
	}
	if !certain { // a command before an assignment may have failed
		r.values = before
	}
	return true
}

// split returns the pipelines that a statement joins, and whether one of them
// runs only after a failure.
func joined(s *syntax.Stmt, before [][]*syntax.Stmt, or bool) ([][]*syntax.Stmt, bool, bool) {
	if len(before) > maxCommands || !plain(s) {
		return nil, false, false
	}
	b, ok := s.Cmd.(*syntax.BinaryCmd)
	if !ok || b.Op == syntax.Pipe {
		pipeline, ok := stages(s, nil)
		return append(before, pipeline), or, ok
	}
	if b.Op != syntax.AndStmt && b.Op != syntax.OrStmt || len(s.Redirs) > 0 || s.Negated {
		return nil, false, false
	}
	before, or, ok = joined(b.X, before, or || b.Op == syntax.OrStmt)
	if !ok {
		return nil, false, false
	}
	return joined(b.Y, before, or)
}

// stages returns the commands of a pipeline.
func stages(s *syntax.Stmt, before []*syntax.Stmt) ([]*syntax.Stmt, bool) {
	if len(before) > maxCommands || !plain(s) {
		return nil, false
	}
	b, ok := s.Cmd.(*syntax.BinaryCmd)
	if !ok {
		return append(before, s), true
	}
	if b.Op != syntax.Pipe || len(s.Redirs) > 0 {
		return nil, false
	}
	if before, ok = stages(b.X, before); !ok {
		return nil, false
	}
	return stages(b.Y, before)
}

func plain(s *syntax.Stmt) bool {
	return s.Cmd != nil && !s.Background && !s.Coprocess && !s.Disown
}

// changeDir returns the folder that a pipeline, which is nothing else, changes to.
func changeDir(pipeline []*syntax.Stmt) (string, bool) {
	words, ok := (&reader{}).arguments(pipeline[0])
	if !ok || len(pipeline) > 1 || len(pipeline[0].Redirs) > 0 || len(words) != 2 || words[0].text != "cd" || words[0].pattern != "" {
		return "", false
	}
	dir := words[1]
	return dir.text, dir.isValue() && isPath(dir.text) && !strings.HasPrefix(dir.text, "-")
}

// isPath reports whether a path can be resolved by its text and the links on
// its way: ".." would leave the folder that a link leads to, not the one it is in.
func isPath(text string) bool {
	return text != "" && !slices.Contains(strings.Split(text, "/"), "..")
}

func (r *reader) pipeline(commands []*syntax.Stmt) bool {
	text := true // what comes out is some file's text, or nothing
	var files []string
	var names nameList // what comes out is names
	for i, s := range commands {
		if r.commands++; r.commands > maxCommands {
			return false
		}
		r.sometimes = r.sometimes || s.Negated
		if inside, ok := r.compound(s); ok {
			if _, ok := r.redirections(s); !ok || !inside {
				return false
			}
			text, names = false, nameList{}
			continue
		}
		words, ok := r.arguments(s)
		if !ok {
			return false
		}
		c, ok := judgeAfter(words, names)
		if !ok {
			return false
		}
		printed, ok := r.redirections(s)
		if !ok || !r.add(c) {
			return false
		}
		if c.filters && len(c.lists.trees) == 0 {
			names = names.through(c)
		} else {
			names = c.lists
		}
		text = text && c.prints && printed && (i == 0 || len(c.files) == 0)
		files = append(files, c.files...)
	}
	if text {
		r.Files = append(r.Files, files...)
	}
	return true
}

func (r *reader) add(c reading) bool {
	if c.program != "" {
		r.Programs = append(r.Programs, c.program)
	}
	r.Programs = append(r.Programs, c.also...)
	r.Perhaps = append(r.Perhaps, c.perhaps...)
	r.Paths = append(r.Paths, c.paths...)
	r.Patterns = append(r.Patterns, c.patterns...)
	r.Trees = append(r.Trees, c.trees...)
	r.Handed = append(r.Handed, c.handed...)
	r.Hidden = r.Hidden || c.hidden
	r.Tracked = r.Tracked || c.tracked
	r.Listings = append(r.Listings, c.listings...)
	r.Present = append(r.Present, c.present...)
	r.Git, r.Remotes = r.Git || c.program == "git" || c.git, r.Remotes || c.remotes
	switch {
	case c.dir != "" && r.gitDir != "" && r.gitDir != c.dir:
		return false
	case c.dir != "":
		r.gitDir = c.dir
	case len(c.paths)+len(c.patterns)+len(c.trees)+len(c.handed) > 0 || c.program == "git":
		r.here = true
	}
	return true
}

// redirections reads where a command's input comes from and its output goes:
// files are only read, and output is only thrown away or joined. It reports
// whether the output is still printed.
func (r *reader) redirections(s *syntax.Stmt) (printed, ok bool) {
	printed = true
	for _, redirect := range s.Redirs {
		word, ok := r.literal(redirect.Word, false)
		if !ok || word.pattern != "" || redirect.Hdoc != nil {
			return false, false
		}
		from := ""
		if redirect.N != nil {
			from = redirect.N.Value
		}
		switch redirect.Op {
		case syntax.RdrOut, syntax.RdrAll:
			if word.text != "/dev/null" || from != "" && from != "1" && from != "2" {
				return false, false
			}
			printed = printed && from == "2"
		case syntax.DplOut:
			if !(from == "2" && word.text == "1") && !((from == "" || from == "1") && word.text == "2") {
				return false, false
			}
		case syntax.RdrIn:
			if from != "" && from != "0" || !isPath(word.text) || strings.HasPrefix(word.text, "/dev/") { // some are connections
				return false, false
			}
			r.Paths, r.here = append(r.Paths, word.text), true
			printed = false // the text has no name in Files
		default:
			return false, false
		}
	}
	return printed, true
}
