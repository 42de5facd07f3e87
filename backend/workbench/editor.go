package workbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/backend"
)

// editors are programs with a window of their own, and how they open a line, in
// the order in which they are looked for.
var editors = []struct{ name, title, arguments string }{
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

// placeInFile is what an editor's command is told, as examples show it.
const placeInFile = "{file}:{line}"

// maxEditorCommand is far above the length of any command, in bytes.
const maxEditorCommand = 4000

// openFile opens a file of the project, or of a session's worktree, in the user's
// editor. No shell takes part, so a name is never more than a name.
func (w *Workbench) openFile(ctx context.Context, in OpenFileRequest) (backend.Empty, error) {
	var none backend.Empty
	tree, err := w.worktreeOf(ctx, in.Session)
	if err != nil {
		return none, err
	}
	path, err := w.fileHere(in.Path, tree)
	if err != nil {
		return none, err
	}
	prefs, err := backend.StoredPreferences(ctx, w.cfg.Store)
	if err != nil {
		return none, err
	}
	argv, err := w.editor(prefs.Editor)
	if err != nil {
		return none, err
	}
	return none, startEditor(ctx, argv, path, in.Line)
}

// startEditor opens a file with an editor's program and arguments.
func startEditor(ctx context.Context, argv []string, path string, line int) error {
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
	return editorStays(ctx, ended, filepath.Base(argv[0]))
}

// editorGrace is how long an editor is watched. One that cannot work, for
// instance because of an argument that it does not know, ends within it.
const editorGrace = time.Second

// editorStays returns an error if an editor ends at once with an error. One that
// has handed the file to another process ends without one.
func editorStays(ctx context.Context, ended <-chan error, name string) error {
	grace := time.NewTimer(editorGrace)
	defer grace.Stop()
	select {
	case err := <-ended:
		if err != nil {
			return backend.Problem(backend.ProblemEditorEnded, name).Because(err)
		}
	case <-grace.C:
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

// fileHere returns the absolute path of an existing file of the project, or of the
// user's own settings file. A relative path is one in a worktree, unless that is empty.
func (w *Workbench) fileHere(shown, tree string) (string, error) {
	name := changes.Unquote(shown)
	if w.hooks.Reads(name) {
		return name, exists(name, shown)
	}
	path := filepath.FromSlash(name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.cfg.Folder, filepath.FromSlash(tree), path)
	}
	if rel, err := filepath.Rel(w.cfg.Folder, path); err != nil || !filepath.IsLocal(rel) || strings.ContainsRune(path, 0) {
		return "", backend.Problem(backend.ProblemChangesOutside, shown)
	}
	return path, exists(path, shown)
}

// exists returns an error if there is no such file.
func exists(path, shown string) error {
	if _, err := os.Stat(path); err != nil {
		return backend.Problem(backend.ProblemFileMissing, shown).Because(err)
	}
	return nil
}

// editor returns the program and the arguments of the user's editor: the one
// that the preference names, else that of the environment if it has a window,
// else the first known one that is installed.
func (w *Workbench) editor(preferred string) ([]string, error) {
	if strings.TrimSpace(preferred) != "" {
		words, err := splitCommand(preferred)
		if err != nil {
			return nil, backend.Problem(backend.ProblemEditorInvalid, placeInFile).Because(err)
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
		words, err := splitCommand(w.cfg.Getenv(variable))
		if err != nil {
			continue
		}
		for _, known := range editors {
			if strings.TrimSuffix(filepath.Base(words[0]), ".exe") != known.name {
				continue
			}
			if program := sandbox.LookPath(words[0]); filepath.IsAbs(program) {
				return append([]string{program}, strings.Fields(known.arguments)...), nil
			}
		}
	}
	for _, known := range editors {
		if program := sandbox.LookPath(known.name); program != "" {
			return append([]string{program}, strings.Fields(known.arguments)...), nil
		}
	}
	return nil, backend.Problem(backend.ProblemEditorMissing, placeInFile)
}

// splitCommand splits an editor's command into words. Quotation marks keep
// spaces in a word; nothing else is special. A command that does not say where
// the file belongs gets it at its end.
func splitCommand(command string) (words []string, err error) {
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

// OpenFileRequest is for files.open. A relative path is one in the session's worktree,
// if it has one. Line counts from 1; 0 means the beginning.
type OpenFileRequest struct {
	Session string `json:"session,omitempty"`

	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
}
