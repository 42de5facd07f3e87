// Package gitguard has the arguments and variables that keep git from running
// programs for a repository that may be hostile: the repository's configuration
// can name programs, and every such setting is switched off.
package gitguard

import (
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

// ListFilters are the arguments whose output [Filters] reads.
func ListFilters() []string {
	return []string{"config", "--list", "--show-scope", "--name-only", "-z"}
}

// Filters returns the names of the filters that a repository itself configures.
// The user's own filters are not among them. It reports false if a name was
// garbled.
func Filters(list string) (names []string, ok bool) {
	fields := strings.Split(list, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		name, isFilter := strings.CutPrefix(fields[i+1], "filter.")
		dot := strings.LastIndexByte(name, '.')
		if scope := fields[i]; !isFilter || dot < 0 || scope != "local" && scope != "worktree" {
			continue
		}
		if strings.ContainsRune(name, utf8.RuneError) { // it was not UTF-8, so the real name is unknown
			return nil, false
		}
		names = append(names, name[:dot])
	}
	return names, true
}

// Without returns the arguments that switch off filters; they come before the
// name of git's command.
func Without(filters []string) (args []string) {
	for _, name := range filters {
		for _, setting := range []string{"clean=" + nothing, "smudge=" + nothing, "process=" + nothing, "required=" + no} {
			args = append(args, "--config-env", "filter."+name+"."+setting)
		}
	}
	return args
}
