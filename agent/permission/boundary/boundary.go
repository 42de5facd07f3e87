package boundary

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
)

// Settings are the lists. A list that is nil restricts nothing; an empty one
// allows nothing (K-33). Deny wins over allow.
type Settings struct {
	// DeniedCommands and AllowedCommands name programs, without their folders. An
	// entry of several words means the program with these arguments: "git push".
	DeniedCommands  []string `json:"deniedCommands"`
	AllowedCommands []string `json:"allowedCommands"`
	// DeniedPaths, AllowedReadPaths and AllowedWritePaths name files, and folders
	// with everything below them. They are absolute, begin with ~/ or are
	// relative to the project.
	DeniedPaths       []string `json:"deniedPaths"`
	AllowedReadPaths  []string `json:"allowedReadPaths"`
	AllowedWritePaths []string `json:"allowedWritePaths"`
}

// Restrict reports whether the lists restrict anything.
func (s Settings) Restrict() bool {
	return len(s.DeniedCommands)+len(s.DeniedPaths) > 0 || s.AllowedCommands != nil || s.AllowedReadPaths != nil || s.AllowedWritePaths != nil
}

// And returns the lists of a stronger file together with those of weaker ones. What
// is denied stays so. What a file allows is added if it is trusted; otherwise it
// counts only if nobody trusted has such a list, and so only narrows.
func (s Settings) And(file Settings, trusted bool) Settings {
	s.DeniedCommands, s.DeniedPaths = slices.Concat(s.DeniedCommands, file.DeniedCommands), slices.Concat(s.DeniedPaths, file.DeniedPaths)
	both := func(before, list []string) []string {
		if list == nil || !trusted && before != nil {
			return before
		}
		return append(append([]string{}, before...), list...) // an empty list is not none
	}
	s.AllowedCommands = both(s.AllowedCommands, file.AllowedCommands)
	s.AllowedReadPaths, s.AllowedWritePaths = both(s.AllowedReadPaths, file.AllowedReadPaths), both(s.AllowedWritePaths, file.AllowedWritePaths)
	return s
}

// Operation is what is done to a path.
type Operation string

// The operations.
const (
	Read  Operation = "read"
	Write Operation = "write"
)

// Verdict says whether something stays within the lists, and why it does not.
// It is Ask for what cannot be told.
type Verdict struct {
	Decision agent.Decision
	// Reason is one sentence for a person. It is empty for what is allowed.
	Reason string
}

var allowed = Verdict{Decision: agent.Allow}

func denied(parts ...string) Verdict {
	return Verdict{Decision: agent.Deny, Reason: strings.Join(parts, "")}
}

func undecided(parts ...string) Verdict {
	return Verdict{Decision: agent.Ask, Reason: strings.Join(parts, "")}
}

// Checker checks against one set of lists. It keeps no state and is safe for
// concurrent use. Use [New].
type Checker struct {
	settings          Settings
	project, home     string
	denied            []string
	readable, written []string // nil if everything is
	fold              bool     // the file system takes upper and lower case for the same
}

// New returns a checker. The project is the folder that relative paths begin
// at, absolute; home is the user's, and may be empty.
func New(s Settings, project, home string) *Checker {
	c := &Checker{settings: s, project: Resolve(project), home: home, fold: runtime.GOOS == "darwin" || runtime.GOOS == "windows"}
	c.denied, c.readable, c.written = c.entries(s.DeniedPaths), c.entries(s.AllowedReadPaths), c.entries(s.AllowedWritePaths)
	return c
}

// entries returns the paths of a list, each as it is written and where its
// links lead.
func (c *Checker) entries(list []string) []string {
	if list == nil {
		return nil
	}
	paths := make([]string, 0, 2*len(list))
	for _, entry := range list {
		path := c.absolute(entry, c.project)
		paths = append(paths, path, Resolve(path))
	}
	return paths
}

func (c *Checker) absolute(path, dir string) string {
	switch rest, ok := strings.CutPrefix(path, "~"); {
	case ok && c.home != "" && (rest == "" || rest[0] == '/'):
		return filepath.Join(c.home, rest)
	case filepath.IsAbs(path):
		return physical(path)
	}
	return physical(dir + string(filepath.Separator) + path)
}

// Path checks a path, which is relative to the project unless it is absolute.
// It follows links, and those of the deepest existing folder for a path that
// does not exist yet.
func (c *Checker) Path(path string, op Operation) Verdict {
	return c.path(c.absolute(path, c.project), op)
}

func (c *Checker) path(path string, op Operation) Verdict {
	if c.restrictsPaths() && throughProcess(path) {
		return denied("The path ", path, " leads to the files of a process, which cannot be told.")
	}
	ways := []string{path}
	if real := Resolve(path); real != path {
		ways = append(ways, real)
	}
	for _, way := range slices.Concat(ways, linked(path)) {
		if c.isDenied(way) {
			return denied("The path ", path, " is in deniedPaths.")
		}
	}
	list, name := c.readable, "allowedReadPaths"
	if op == Write {
		list, name = c.written, "allowedWritePaths"
	}
	real := ways[len(ways)-1]
	if list != nil && !slices.ContainsFunc(list, func(root string) bool { return c.below(root, real) }) {
		return denied("The path ", path, " is outside ", name, ".")
	}
	return allowed
}

// Below checks whether everything below a folder may be read.
func (c *Checker) Below(path string) Verdict {
	if c.above(c.absolute(path, c.project)) || c.above(Resolve(c.absolute(path, c.project))) {
		return denied("A path below ", path, " is in deniedPaths.")
	}
	return allowed
}

// linked returns where the files lead that a pattern matches. One with several
// wildcards, which can match very many, is not looked at.
func linked(pattern string) (real []string) {
	parts := slices.DeleteFunc(names(pattern), func(name string) bool { return !strings.ContainsAny(name, "*?[") })
	if len(parts) != 1 {
		return nil
	}
	matches, _ := filepath.Glob(pattern)
	for _, match := range matches[:min(len(matches), maxLinked)] {
		if path := Resolve(match); path != match {
			real = append(real, path)
		}
	}
	return real
}

// maxLinked limits how many files of a pattern are looked at.
const maxLinked = 1000

// isDenied reports whether a path is, or as a pattern may match, a denied path
// or something below it.
func (c *Checker) isDenied(path string) bool {
	return len(c.denied) > 0 && throughProcess(path) || slices.ContainsFunc(c.denied, func(root string) bool { return c.mayBeBelow(root, path) })
}

// throughProcess reports whether a path goes through the folder or the root of a
// process, which is another one for the command than for this program.
func throughProcess(path string) bool {
	parts := names(path)
	return len(parts) > 2 && parts[0] == "proc" && slices.ContainsFunc(parts[2:], func(name string) bool {
		return slices.Contains([]string{"cwd", "root"}, name)
	})
}

// above reports whether something that is denied lies below a path.
func (c *Checker) above(path string) bool {
	return slices.ContainsFunc(c.denied, func(root string) bool { return c.mayBeAbove(path, root) })
}

// below reports whether a path is root or below it, name by name, so that
// /project is not above /project-backup.
func (c *Checker) below(root, path string) bool {
	return c.begins(names(path), names(root), func(name, want string) bool { return c.same(name, want) })
}

// mayBeBelow is below for a path that may be a pattern.
func (c *Checker) mayBeBelow(root, pattern string) bool {
	return c.begins(names(pattern), names(root), c.mayMatch)
}

func (c *Checker) mayBeAbove(pattern, path string) bool {
	return c.begins(names(path), names(pattern), func(name, pattern string) bool { return c.mayMatch(pattern, name) })
}

// begins reports whether a path begins with the names of another.
func (c *Checker) begins(path, with []string, same func(name, want string) bool) bool {
	if len(path) < len(with) {
		return false
	}
	for i, want := range with {
		if !same(path[i], want) {
			return false
		}
	}
	return true
}

func (c *Checker) same(a, b string) bool { return a == b || c.fold && strings.EqualFold(a, b) }

func (c *Checker) mayMatch(pattern, name string) bool {
	if c.same(pattern, name) {
		return true
	}
	if !strings.ContainsAny(pattern, "*?[") {
		return false
	}
	ok, err := filepath.Match(pattern, name)
	return ok || err != nil || strings.ContainsAny(pattern, "[(") // bash knows more of them
}

func names(path string) []string {
	return strings.FieldsFunc(filepath.Clean(path), func(r rune) bool { return r == filepath.Separator })
}
