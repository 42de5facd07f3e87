package command

import (
	"path/filepath"
	"slices"
	"strings"
)

// Printed is a command of git that prints text of files which its arguments need
// not name.
type Printed struct {
	Command string
	Args    []string // of the command, without git's own
	Dirs    []string // where it may run
	// Today says that it prints files of the index, unless an argument names
	// another version.
	Today bool
}

// Prints returns what a step prints from a repository. It reports false if that is
// no text of files, or only of files that its arguments name.
func (s Step) Prints() (Printed, bool) {
	if s.Program() != "git" && !strings.HasPrefix(s.Program(), "git-") {
		return Printed{}, false
	}
	command, args, dirs := gitWords(s)
	how := gitTable[command].prints
	if how == nil || command == "stash" && (len(args) == 0 || args[0] != "show" && args[0] != "list") {
		return Printed{}, false
	}
	if how.with != "" && !hasOption(args, how.with) || hasSummary(args, how.unless) && !hasOption(args, patches) {
		return Printed{}, false
	}
	return Printed{command, args, dirs, how.today}, true
}

// printer says when a command of git prints what is in files.
type printer struct {
	// unless are the options with which it prints names and counts only, and with
	// those without which it does; empty if it needs none.
	unless, with string
	// today says that it prints files of the index, unless an argument names
	// another version.
	today bool
}

const (
	summaries = "--stat --numstat --shortstat --dirstat --summary --name-only --name-status --raw --no-patch -s --quiet"
	patches   = "-p -u --patch -c --cc -m -U --unified -W -L --patch-with-stat --patch-with-raw --word-diff --color-words --remerge-diff --diff-merges --dd --binary --function-context"
)

// gitWords returns the command of git with its arguments, and the folders in
// which it may run.
func gitWords(s Step) (command string, args, dirs []string) {
	args, dirs = s.Args, s.Dirs
	if name, ok := strings.CutPrefix(s.Program(), "git-"); ok {
		return name, args, dirs
	}
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		takes := slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--exec-path", "--namespace", "--config-env"}, args[0]) && len(args) > 1
		if !takes {
			args = args[1:]
			continue
		}
		if to := args[1]; args[0] == "-C" {
			var moved []string
			for _, dir := range dirs {
				if filepath.IsAbs(to) {
					dir = ""
				}
				moved = append(moved, filepath.Join(dir, to))
			}
			dirs = moved
		}
		args = args[2:]
	}
	if len(args) == 0 {
		return "", nil, dirs
	}
	return args[0], args[1:], dirs
}

// alone are options before which and after which others stand: they have no value
// that could be written like an option.
var alone = strings.Fields(summaries + " --cached --staged --oneline --no-color --color --graph --all --decorate -M -C -w -b -r -R -z -t -s -i -n")

// hasSummary is hasOption for options that must be ones: not the value of the
// option before.
func hasSummary(args []string, options string) bool {
	for i, arg := range args {
		if arg == "--" {
			return false
		}
		if slices.Contains(strings.Fields(options), arg) && (i == 0 || !strings.HasPrefix(args[i-1], "-") || strings.Contains(args[i-1], "=") || slices.Contains(alone, args[i-1])) {
			return true
		}
	}
	return false
}

// hasOption reports whether one of some options is among arguments: alone, with a
// value, or as a letter among others.
func hasOption(args []string, options string) bool {
	for _, arg := range args {
		if arg == "--" {
			return false
		}
		name, _, _ := strings.Cut(arg, "=")
		for option := range strings.FieldsSeq(options) {
			isLetter := len(option) == 2
			switch {
			case name == option, isLetter && strings.HasPrefix(arg, option):
				return true
			case !isLetter && len(name) > 4 && strings.HasPrefix(name, "--") && strings.HasPrefix(option, name):
				return true
			case isLetter && len(arg) == 3 && arg[0] == '-' && arg[1] != '-' && strings.Contains(arg, option[1:]):
				return true
			}
		}
	}
	return false
}
