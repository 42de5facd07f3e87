// Package gitguard has the arguments and variables that keep git from running
// programs for a repository that may be hostile: the repository's configuration
// can name programs, and every such setting is switched off.
package gitguard

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Arguments come right after the name of the program.
func Arguments() []string {
	return []string{
		"--no-optional-locks", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
	}
}

// A filter may have any name, even one with an equals sign, where -c would end
// the name. --config-env splits at the last equals sign and takes the value
// from a variable. A git that does not know the option refuses it, and then no
// filter runs.
const (
	nothing = "ATELIER_GIT_NOTHING"
	no      = "ATELIER_GIT_FALSE"
)

// Variables complete the environment of git.
func Variables() []string {
	return []string{
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", nothing + "=", no + "=false",
	}
}

// ListPrograms are the arguments whose output [Find] reads.
func ListPrograms() []string {
	return []string{"config", "--list", "--show-scope", "--name-only", "-z"}
}

// Programs are the names of what a configuration runs programs for.
type Programs struct {
	Filters []string // of the repository itself; the user's own are not among them
	Hooks   []string // of any configuration, which Git has since 2.54
}

// lfs is the filter that large files pass through. The user configures it, but
// it runs what the repository configures for it.
const lfs = "lfs"

// Find returns what a configuration runs programs for. It reports false if a
// name was garbled.
func Find(list string) (p Programs, ok bool) {
	fields := strings.Split(list, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		section, rest, _ := strings.Cut(fields[i+1], ".")
		name, inner := rest, false
		if dot := strings.LastIndexByte(rest, '.'); dot >= 0 {
			name, inner = rest[:dot], true
		}
		own := fields[i] == "local" || fields[i] == "worktree"
		var into *[]string
		switch {
		case section == "filter" && inner && own:
			into = &p.Filters
		case section == "hook" && inner:
			into = &p.Hooks
		case section == lfs && own && (strings.HasPrefix(rest, "extension.") || strings.Contains(rest, "transfer")):
			name, into = lfs, &p.Filters
		default:
			continue
		}
		if strings.ContainsRune(name, utf8.RuneError) { // it was not UTF-8, so the real name is unknown
			return Programs{}, false
		}
		if !slices.Contains(*into, name) {
			*into = append(*into, name)
		}
	}
	return p, true
}

// Off returns the arguments that switch the programs off; they come before the
// name of git's command.
func (p Programs) Off() (args []string) {
	for _, name := range p.Filters {
		for _, setting := range []string{"clean=" + nothing, "smudge=" + nothing, "process=" + nothing, "required=" + no} {
			args = append(args, "--config-env", "filter."+name+"."+setting)
		}
	}
	for _, name := range p.Hooks {
		args = append(args, "--config-env", "hook."+name+".enabled="+no)
	}
	return args
}
