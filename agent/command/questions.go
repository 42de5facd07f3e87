package command

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"atelier.dev/atelier/internal/regular"
)

// Descends reports whether a step also touches what is below the folders that it is given.
func (s Step) Descends() bool {
	if s.Program() == "git" && slices.Contains(s.Args, "clean") {
		return len(s.Writes) > 0 // it does more than list
	}
	deep := row(s.Program()).deep
	return deep == "*" || slices.ContainsFunc(s.Args, func(arg string) bool {
		return slices.ContainsFunc(strings.Fields(deep), func(option string) bool {
			if strings.HasPrefix(option, "--") {
				return len(arg) > 3 && strings.HasPrefix(option, arg)
			}
			return strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.Contains(arg, option)
		})
	})
}

// MayDescend is Descends for a step of which no options are known. Programs that only list
// names do not count.
func (s Step) MayDescend() bool {
	p := row(s.Program())
	return s.Unfamiliar || p.deep != "" && !p.is(listsNames)
}

// Deletes reports whether a step deletes as rm does (OAS-655).
func (s Step) Deletes() bool {
	p := row(s.Program())
	if s.Program() == "git" && s.Has(Wants([]string{"clean", "--dry-run"})) == Meant {
		return false
	}
	return p.is(deletes) || slices.ContainsFunc(strings.FieldsFunc(p.commands[deletes], isBar), func(word string) bool {
		return s.Has(Wants([]string{word})) != Unlike
	})
}

// Launches reports whether a step may run what its arguments say, in a way that is not
// followed.
func (s Step) Launches() bool { return s.Unfamiliar || row(s.Program()).is(launches) }

// IsText reports whether the arguments of a step are text only, as those of echo and of a
// redirection.
func (s Step) IsText() bool { return s.Name == "" || row(s.Name).is(isText) }

// ProjectFiles returns the names of the files of a project that decide what a program runs.
func ProjectFiles(program string) []string { return strings.Fields(row(program).steered) }

// Wraps reports whether a program runs another one, which is among its arguments.
func Wraps(program string) bool { return row(program).wraps != nil }

// Script is a file that a step runs as code.
type Script struct {
	Path, Text string
	// Shell says that a shell reads it. Clear says that its text is known; a file that is
	// too long, or cannot be read, is not.
	Shell, Clear bool
}

// ReadScripts reads the files that a step runs as code. Without a first line that names an
// interpreter, a program that is a text is read by the shell itself.
func (s Step) ReadScripts() []Script {
	byShell := IsShell(s.Program()) || s.Program() == "source" || s.Program() == "."
	var all []Script
	for _, path := range s.Scripts {
		text, ok := readScript(path)
		isProgram := strings.ContainsRune(s.Name, filepath.Separator) && filepath.Base(path) == s.Program()
		all = append(all, Script{Path: path, Text: text, Clear: ok, Shell: byShell || ok && namesShell(text, isProgram)})
	}
	return all
}

// namesShell reports whether a text is a script for a shell.
func namesShell(text string, isProgram bool) bool {
	first, _, _ := strings.Cut(text, "\n")
	named, ok := strings.CutPrefix(first, "#!")
	if !ok {
		return isProgram && bytes.IndexByte([]byte(text), 0) < 0
	}
	return slices.ContainsFunc(strings.Fields(named), func(name string) bool { return IsShell(filepath.Base(name)) })
}

// NamesIn returns the words of a text that may be the names of programs.
func NamesIn(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return r >= unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.", r)
	})
}

// PathsIn returns what of an argument may be a path: all of it, or the value of an option.
func PathsIn(arg string) []string {
	arg = strings.TrimPrefix(arg, "@") // a file with arguments
	var paths []string
	isOption := strings.HasPrefix(arg, "-")
	if !isOption {
		paths = append(paths, arg)
	}
	if _, value, ok := strings.Cut(arg, "="); ok {
		paths = append(paths, value)
	}
	if at := strings.IndexAny(arg, "/~"); isOption && at > 0 {
		paths = append(paths, arg[at:])
	}
	return paths
}

func isBar(c rune) bool { return c == '|' }

// maxScript limits how much of a script is read, in bytes.
const maxScript = 32 << 10

// readScript returns the text of a regular file that a line runs. It reports false
// for one that cannot be read or is too long.
func readScript(path string) (string, bool) {
	b, err := regular.Read(path, maxScript)
	return string(b), err == nil
}
