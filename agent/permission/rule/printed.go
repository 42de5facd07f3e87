package rule

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/internal/effect"
	"atelier.dev/atelier/agent/permission/boundary"
)

// Git prints files from its repository, which no path of a line names: those of
// today, which its index lists, and all that were ever committed.

// printer says when a command of git prints what is in files.
type printer struct {
	// unless are the options with which it prints names and counts only, and with
	// those without which it does; nil if it needs none.
	unless, with []string
	// today says that it prints files of the index, unless an argument names
	// another version.
	today bool
}

var (
	summaries = strings.Fields("--stat --numstat --shortstat --dirstat --summary --name-only --name-status --raw --no-patch -s --quiet")
	patches   = strings.Fields("-p -u --patch -c --cc -m -U --unified -W -L --patch-with-stat --patch-with-raw --word-diff --color-words --remerge-diff --diff-merges --dd --binary --function-context")
)

// printers are the commands that print, by name. "blame" and others that need a
// file's name are not among them, because that name is looked at anyway.
var printers = map[string]printer{
	"show": {unless: summaries}, "diff": {unless: summaries, today: true}, "difftool": {}, "range-diff": {}, "format-patch": {}, "fast-export": {},
	"archive": {}, "bundle": {}, "cat-file": {unless: strings.Fields("-t -s -e")}, "grep": {unless: strings.Fields("-l -L -c -q --count --quiet --files-with-matches --name-only --files-without-match"), today: true},
	"log": {with: patches}, "whatchanged": {with: patches}, "reflog": {with: patches}, "stash": {with: patches},
	"diff-tree": {with: patches}, "diff-index": {with: patches}, "diff-files": {with: patches, today: true},
	"status": {with: strings.Fields("-v -vv --verbose"), today: true}, "commit": {with: strings.Fields("-v --verbose"), today: true},
}

// mayBePrinted reports whether a step is a command of git that may print a file
// which a pattern means.
func (p pattern) mayBePrinted(s effect.Step, at place) bool {
	if s.Program() != "git" && !strings.HasPrefix(s.Program(), "git-") {
		return false
	}
	command, args, dirs := gitCommand(s)
	how, ok := printers[command]
	if !ok || command == "stash" && (len(args) == 0 || args[0] != "show" && args[0] != "list") {
		return false
	}
	if how.with != nil && !hasOption(args, how.with) || hasSummary(args, how.unless) && !hasOption(args, patches) {
		return false
	}
	for _, dir := range dirs {
		if p.isPrinted(how, args, dir, at) {
			return true
		}
	}
	return false
}

// gitCommand returns the command of git with its arguments, and the folders in
// which it may run.
func gitCommand(s effect.Step) (command string, args, dirs []string) {
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
var alone = slices.Concat(summaries, strings.Fields("--cached --staged --oneline --no-color --color --graph --all --decorate -M -C -w -b -r -R -z -t -s -i -n"))

// hasSummary is hasOption for options that must be ones: not the value of the
// option before.
func hasSummary(args, options []string) bool {
	for i, arg := range args {
		if arg == "--" {
			return false
		}
		if slices.Contains(options, arg) && (i == 0 || !strings.HasPrefix(args[i-1], "-") || strings.Contains(args[i-1], "=") || slices.Contains(alone, args[i-1])) {
			return true
		}
	}
	return false
}

// hasOption reports whether one of some options is among arguments: alone, with a
// value, or as a letter among others.
func hasOption(args, options []string) bool {
	for _, arg := range args {
		if arg == "--" {
			return false
		}
		name, _, _ := strings.Cut(arg, "=")
		for _, option := range options {
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

// isPrinted reports whether a pattern may mean one of the files that a command
// prints: those below its paths, or all.
func (p pattern) isPrinted(how printer, args []string, dir string, at place) bool {
	today := how.today
	var paths []string
	marked := slices.Index(args, "--")
	for i, arg := range args {
		path := boundary.Resolve(filepath.Join(dir, arg))
		switch _, err := os.Lstat(path); {
		case i == marked:
		case marked >= 0 && i > marked, err == nil && !strings.HasPrefix(arg, "-"):
			if strings.HasPrefix(arg, ":") || strings.ContainsAny(arg, `*?[\$`) { // it is more than a path
				path = at.project
			}
			paths = append(paths, path)
		case strings.HasPrefix(arg, "-"):
			today = today && !strings.HasPrefix(arg, "--merge-base")
		default: // a version, or a word to look for
			today = today && !(strings.ContainsAny(arg, ":^~@") || isVersion(dir, arg))
		}
	}
	if today {
		return p.isTracked(dir, paths, at)
	}
	return len(paths) == 0 || slices.ContainsFunc(paths, func(path string) bool { return p.mayHaveHad(path, at) })
}

// isVersion reports whether a word may name a version in the repository of a
// folder: a branch, a tag or the beginning of a number.
func isVersion(dir, word string) bool {
	repository, ok := gitFolder(dir)
	if !ok || strings.Contains(word, "..") || word == "HEAD" || strings.HasSuffix(word, "_HEAD") {
		return true
	}
	if len(word) >= 4 && strings.Trim(strings.ToLower(word), "0123456789abcdef") == "" {
		return true
	}
	if common, err := os.ReadFile(filepath.Join(repository, "commondir")); err == nil { // of another work tree
		repository = filepath.Join(repository, strings.TrimSpace(string(common)))
	}
	for _, place := range []string{"refs", "refs/heads", "refs/tags", "refs/remotes"} {
		if _, err := os.Lstat(filepath.Join(repository, place, filepath.FromSlash(word))); err == nil {
			return true
		}
	}
	packed, _ := os.ReadFile(filepath.Join(repository, "packed-refs"))
	return strings.Contains(string(packed), "/"+word+"\n")
}

// mayHaveHad reports whether a path may ever have led to something that a pattern
// means: it is a file of its form, or a folder in which there may have been one.
func (p pattern) mayHaveHad(real string, at place) bool {
	if p.matches(real, at, true) {
		return true
	}
	if info, err := os.Lstat(real); err == nil && !info.IsDir() {
		return false
	}
	fixed, _ := p.fixed(at)
	if fixed == "" {
		fixed = p.root(at)
	}
	fixed = boundary.Resolve(fixed)
	return fixed == "" || isBelow(fixed, real) || isBelow(real, fixed)
}

// isTracked reports whether the index of a folder's repository has a file that a
// pattern means, below one of some paths if there are any. An index that cannot
// be read may have one.
func (p pattern) isTracked(dir string, paths []string, at place) bool {
	root, names, ok := tracked(dir)
	if !ok {
		return true
	}
	for _, name := range names {
		path := filepath.Join(root, filepath.FromSlash(name))
		asked := len(paths) == 0 || slices.ContainsFunc(paths, func(above string) bool { return isBelow(above, path) })
		if asked && (p.matches(path, at, true) || strings.HasSuffix(name, "/") && p.mayHaveHad(path, at)) { // a folder stands for all in it
			return true
		}
	}
	return false
}
