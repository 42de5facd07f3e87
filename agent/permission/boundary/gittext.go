package boundary

import (
	"slices"
	"strings"

	"atelier.dev/atelier/agent/command"
)

// gitText checks commands of git that print text of files which nothing names. A
// search reads the files that are there; a commit need not touch a denied path,
// so a command that prints commits is asked about.
func (c *Checker) gitText(s command.Step) Verdict {
	printed, ok := s.Prints()
	if !ok || len(c.denied) == 0 || namesVersions(printed) {
		return allowed
	}
	verdict := undecided
	if printed.Command == "grep" {
		verdict = denied
	}
	for _, path := range c.printedPaths(printed) {
		if c.above(path) {
			return verdict("A path below ", path, " is in deniedPaths.")
		}
	}
	return allowed
}

// namesVersions reports whether a command prints nothing but files by their paths
// in a version, which are checked as its arguments.
func namesVersions(printed command.Printed) bool {
	operands := slices.DeleteFunc(slices.Clone(printed.Args), func(arg string) bool { return strings.HasPrefix(arg, "-") })
	return printed.Command == "show" && len(operands) > 0 &&
		!slices.ContainsFunc(operands, func(arg string) bool { return !strings.Contains(strings.TrimPrefix(arg, ":"), ":") })
}

// printedPaths returns the folders of which a command prints: those after "--",
// or all of the project.
func (c *Checker) printedPaths(printed command.Printed) []string {
	all := append(slices.Clone(printed.Dirs), c.project)
	dashes := slices.Index(printed.Args, "--")
	if dashes < 0 || dashes == len(printed.Args)-1 {
		return all
	}
	var paths []string
	for _, arg := range printed.Args[dashes+1:] {
		if strings.ContainsAny(arg, ":*?[") { // it means more than itself
			return all
		}
		for _, dir := range printed.Dirs {
			paths = append(paths, c.absolute(arg, dir))
		}
	}
	return paths
}
