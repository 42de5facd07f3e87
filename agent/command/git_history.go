package command

import (
	"slices"
	"strings"
)

// Listing is a question to git. The answer names the files from which a git
// command prints text, each name ending in a zero byte. If git refuses to
// answer, the command may print text from unknown files.
type Listing struct {
	// Arguments come first, Revisions second, and Paths last, after "--".
	Arguments []string
	// Revisions may be names of existing files. Any other must be a commit, or
	// two with dots between them, because git also prints the bare text of a
	// file by its identifier.
	Revisions []string
	// Tree says that anything with files is accepted in place of a commit.
	Tree  bool
	Paths []string
}

// Options of git that decide whether text of files is printed.
var (
	gitNoText = strings.Fields("stat shortstat numstat name-only name-status raw dirstat summary compact-summary quiet no-patch s")
	gitText   = strings.Fields("p u U W m patch patch-with-stat unified function-context word-diff color-words binary check")
)

// gitChoices are options that select the commits and the compared sides. Other
// options affect the format only, and a listing leaves them out.
var gitChoices = strings.Fields(gitLimits + " n i m boundary cherry-pick full-history cached staged merge-base")

// gitNarrowing are options that select by the content or the earlier names of
// files, so that a listing could differ from the output.
var gitNarrowing = strings.Fields("follow diff-filter S G pickaxe-all")

// printed determines what a git command prints of files that may exist only in
// earlier commits; it reports false if that cannot be known in advance.
func printed(name string, c *call, read *reading) bool {
	text := c.has(gitText...)
	if name != "grep" && slices.ContainsFunc(c.before(), isSearch) { // grep has a pattern there
		return false
	}
	switch name {
	case "log":
		if c.has("L") {
			return followed(c, read)
		}
		return !text || listed(name, c, read)
	case "stash":
		return stashed(c, read)
	case "diff":
		text = text || !c.has(gitNoText...)
		read.tracked = text
		for _, w := range c.before() {
			if strings.Contains(w.text, ":") { // a file by its name in a commit
				return false
			}
		}
		if len(c.operands) == 0 && !c.has("cached", "staged") {
			return true // which has no commit in it
		}
		return !text || listed(name, c, read)
	case "show":
		return read.named(c) && (onlyNamed(c) || listed(name, c, read))
	case "cat-file":
		return catFile(c, read)
	case "grep":
		read.tracked = true
		names := c.before()
		if !c.has("e") && len(names) > 0 { // its first word is what it searches for
			names = names[1:]
		}
		if c.dashes && len(names) > 0 {
			return false // revisions, even if files have their names
		}
		for _, w := range names {
			read.present = append(read.present, w.text)
		}
	}
	return true
}

// named replaces REVISION:PATH by its path as a path that is read.
func (r *reading) named(c *call) bool {
	for _, w := range c.before() {
		if _, path, ok := strings.Cut(w.text, ":"); ok && path != "" {
			if !isPath(path) {
				return false
			}
			r.paths = append(r.paths, path)
		}
	}
	return true
}

// isSearch reports whether a revision may be a search by a commit's subject
// (:/TEXT, REVISION^{/TEXT}) that only looks like REVISION:PATH.
func isSearch(w word) bool {
	revision, _, named := strings.Cut(w.text, ":")
	return named && (revision == "" || strings.Contains(revision, "{"))
}

// onlyNamed reports whether the command shows only REVISION:PATH.
func onlyNamed(c *call) bool {
	return len(c.before()) > 0 && !slices.ContainsFunc(c.before(), func(w word) bool { return !strings.Contains(w.text, ":") })
}

// before returns the operands before "--", which may be revisions.
func (c *call) before() []word { return c.operands[:len(c.operands)-c.after] }

// listed adds the listing for a command's output.
func listed(name string, c *call, read *reading) bool {
	if c.has(gitNarrowing...) {
		return false
	}
	l := Listing{Arguments: []string{name}}
	for _, o := range c.options {
		switch known := slices.ContainsFunc(gitChoices, func(choice string) bool { return strings.TrimRight(choice, "=?") == o.name }); {
		case o.name == "count":
			l.Arguments = append(l.Arguments, "-"+o.value)
		case !known:
		case len(o.name) == 1:
			l.Arguments = append(l.Arguments, "-"+o.name+o.value)
		case o.value != "":
			l.Arguments = append(l.Arguments, "--"+o.name+"="+o.value)
		default:
			l.Arguments = append(l.Arguments, "--"+o.name)
		}
	}
	l.Arguments = append(l.Arguments, "--name-only", "--no-renames", "-z")
	if name != "diff" {
		l.Arguments = append(l.Arguments, "--format=")
	}
	for i, w := range c.operands {
		switch isRevision := i < len(c.before()); {
		case !isRevision:
			l.Paths = append(l.Paths, w.text)
		case name != "show" || !strings.Contains(w.text, ":"):
			l.Revisions = append(l.Revisions, w.text)
		}
	}
	if name == "show" && len(l.Revisions) == 0 {
		l.Revisions = []string{"HEAD"}
	}
	read.listings = append(read.listings, l)
	return true
}

// followed accepts git log for lines of one file, and asks for the names that it had.
func followed(c *call, read *reading) bool {
	l := Listing{Arguments: []string{"log", "--follow", "--name-only", "-z", "--format="}}
	for _, o := range c.options {
		if o.name != "L" {
			continue
		}
		lines, file, ok := strings.Cut(strings.TrimPrefix(o.value, ":"), ":")
		if !ok || lines == "" || strings.Contains(file, ":") || !isPath(file) || len(l.Paths) > 0 {
			return false
		}
		l.Paths = []string{file}
	}
	if c.dashes || c.has("all", "branches", "remotes", "tags") {
		return false
	}
	for _, w := range c.operands {
		l.Revisions = append(l.Revisions, w.text)
	}
	read.paths = append(read.paths, l.Paths...)
	read.listings = append(read.listings, l)
	return true
}

// stashed accepts git stash show, and asks for the files of the stash.
func stashed(c *call, read *reading) bool {
	if len(c.operands) == 0 || c.operands[0].text != "show" {
		return len(c.operands) > 0 && len(c.options) == 0
	}
	l := Listing{Arguments: []string{"stash", "show", "--include-untracked", "--name-only", "--no-renames", "-z"}}
	switch names := c.operands[1:]; {
	case len(names) > 1 || c.dashes:
		return false
	case len(names) == 0:
		l.Revisions = []string{"stash@{0}"}
	case isCount(names[0].text):
		l.Revisions = []string{"stash@{" + names[0].text + "}"}
	default:
		l.Revisions = []string{names[0].text}
	}
	read.listings = append(read.listings, l)
	return true
}

// catFile accepts calls that print a file's text only by its name.
func catFile(c *call, read *reading) bool {
	if len(c.operands) != 1 || len(c.options) != 1 || !read.named(c) {
		return false // git cat-file blob OBJECT
	}
	object := c.operands[0].text
	if c.has("p") && !strings.Contains(object, ":") {
		read.listings = append(read.listings, Listing{
			Arguments: []string{"rev-parse", "--verify", "--quiet"}, Revisions: []string{object}, Tree: true,
		})
	}
	return true
}
