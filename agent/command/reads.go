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
//
// It is a list of what is allowed at each step: simple commands of literal words, joined by
// &&, ||, ; and |; groups, conditions and loops over words of these; programs with a row in
// the table, and the options that it has. Anything else is not accepted.
func Read(line string) (Reading, bool) {
	if Hides(line) {
		return Reading{}, false
	}
	file, ok := Parse(line)
	if !ok || len(file.Stmts) == 0 {
		return Reading{}, false
	}
	stmts := unwrapped(file.Stmts)
	r := &reader{times: 1}
	if len(stmts) == 1 {
		r.Dir, r.enters = leadingFolder(stmts[0])
	}
	w := &walker{reader: r}
	w.list(stmts, &scope{dirs: []string{""}, vars: map[string]value{}, functions: map[string]bool{}})
	if r.fails {
		return Reading{}, false
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
