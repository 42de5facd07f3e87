// Package editors opens files in the user's editor. No shell takes part, so a name is
// never more than a name.
package editors

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/backend"
)

// known are programs with a window of their own, and how they open a line, in
// the order in which they are looked for.
var known = []struct{ name, title, arguments string }{
	{"code", "Visual Studio Code", "-g {file}:{line}"}, {"cursor", "Cursor", "-g {file}:{line}"},
	{"windsurf", "Windsurf", "-g {file}:{line}"}, {"codium", "VSCodium", "-g {file}:{line}"},
	{"code-insiders", "Visual Studio Code Insiders", "-g {file}:{line}"}, {"zed", "Zed", "{file}:{line}"},
	{"zeditor", "Zed", "{file}:{line}"}, {"subl", "Sublime Text", "{file}:{line}"},
	{"idea", "IntelliJ IDEA", "--line {line} {file}"}, {"goland", "GoLand", "--line {line} {file}"},
	{"webstorm", "WebStorm", "--line {line} {file}"}, {"pycharm", "PyCharm", "--line {line} {file}"},
	{"clion", "CLion", "--line {line} {file}"}, {"rustrover", "RustRover", "--line {line} {file}"},
	{"phpstorm", "PhpStorm", "--line {line} {file}"}, {"rubymine", "RubyMine", "--line {line} {file}"},
	{"kate", "Kate", "--line {line} {file}"}, {"gvim", "GVim", "+{line} {file}"}, {"mvim", "MacVim", "+{line} {file}"},
	{"emacs", "Emacs", "+{line} {file}"}, {"gedit", "gedit", "+{line} {file}"}, {"gnome-text-editor", "GNOME Text Editor", "{file}"},
	{"mousepad", "Mousepad", "{file}"}, {"notepad++", "Notepad++", "-n{line} {file}"}, {"notepad", "Notepad", "{file}"},
}

// PlaceInFile is how an editor's command says where the file and the line belong.
const PlaceInFile = "{file}:{line}"

// maxEditorCommand is far above the length of any command, in bytes.
const maxEditorCommand = 4000

// start opens a file with an editor's program and arguments.
func start(ctx context.Context, argv []string, path string, line int) error {
	fill := strings.NewReplacer("{file}", path, "{line}", strconv.Itoa(max(line, 1)))
	for i := range argv[1:] {
		argv[i+1] = fill.Replace(argv[i+1])
	}
	if err := batchable(argv); err != nil {
		return backend.Problem(backend.ProblemEditorFailed, filepath.Base(argv[0])).Because(err)
	}
	ended, err := sandbox.Detach(argv...)
	if err != nil {
		return backend.Problem(backend.ProblemEditorFailed, filepath.Base(argv[0])).Because(err)
	}
	return watch(ctx, ended, filepath.Base(argv[0]))
}

// grace is how long an editor is watched. One that cannot work, for
// instance because of an argument that it does not know, ends within it.
const grace = time.Second

// watch returns an error if an editor ends at once with an error. One that
// has handed the file to another process ends without one.
func watch(ctx context.Context, ended <-chan error, name string) error {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case err := <-ended:
		if err != nil {
			return backend.Problem(backend.ProblemEditorEnded, name).Because(err)
		}
	case <-timer.C:
	case <-ctx.Done():
	}
	return nil
}

// batchable refuses arguments in which cmd.exe would find commands. Windows runs
// batch files with it, which some editors are, and names of files may have its
// special characters.
func batchable(argv []string) error {
	switch strings.ToLower(filepath.Ext(argv[0])) {
	case ".cmd", ".bat":
		for _, arg := range argv[1:] {
			if strings.ContainsAny(arg, "&|<>^%!\"\r\n") {
				return fmt.Errorf("a batch file cannot be given %q", arg)
			}
		}
	}
	return nil
}

// command returns the program and the arguments of the user's editor: the one
// that the preference names, else that of the environment if it has a window,
// else the first known one that is installed.
func (e *Editors) command(preferred string) ([]string, error) {
	if strings.TrimSpace(preferred) != "" {
		words, err := Split(preferred)
		if err != nil {
			return nil, backend.Problem(backend.ProblemEditorInvalid, PlaceInFile).Because(err)
		}
		program := sandbox.LookPath(words[0])
		if !filepath.IsAbs(program) { // a path in the project is not taken either
			return nil, backend.Problem(backend.ProblemEditorAbsent, words[0])
		}
		if _, err := os.Stat(program); err != nil {
			return nil, backend.Problem(backend.ProblemEditorAbsent, words[0]).Because(err)
		}
		return append([]string{program}, words[1:]...), nil
	}
	for _, variable := range []string{"VISUAL", "EDITOR"} {
		words, err := Split(e.cfg.Getenv(variable))
		if err != nil {
			continue
		}
		for _, k := range known {
			if strings.TrimSuffix(filepath.Base(words[0]), ".exe") != k.name {
				continue
			}
			if program := sandbox.LookPath(words[0]); filepath.IsAbs(program) {
				return append([]string{program}, strings.Fields(k.arguments)...), nil
			}
		}
	}
	for _, k := range known {
		if program := sandbox.LookPath(k.name); program != "" {
			return append([]string{program}, strings.Fields(k.arguments)...), nil
		}
	}
	return nil, backend.Problem(backend.ProblemEditorMissing, PlaceInFile)
}

// Split splits an editor's command into words. Quotation marks keep
// spaces in a word; nothing else is special. A command that does not say where
// the file belongs gets it at its end.
func Split(command string) (words []string, err error) {
	var word strings.Builder
	var quote rune
	begun := false
	for _, r := range strings.TrimSpace(command) + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, begun = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		case r < ' ':
			return nil, errors.New("the command has a control character")
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	switch {
	case len(command) > maxEditorCommand:
		return nil, fmt.Errorf("the command is longer than %d bytes", maxEditorCommand)
	case quote != 0:
		return nil, errors.New("a quotation mark is not closed")
	case len(words) == 0 || words[0] == "":
		return nil, errors.New("the command names no program")
	case strings.Contains(words[0], "{"):
		return nil, errors.New("the program cannot be a placeholder")
	}
	if !strings.Contains(strings.Join(words, " "), "{file}") {
		words = append(words, "{file}")
	}
	return words, nil
}
