package workbench

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"

	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/backend"
)

// listEditors returns the known editors that are installed, and the one that opens
// files as long as the user names none.
func (w *Workbench) listEditors(context.Context, backend.Empty) (Editors, error) {
	var reply Editors
	for _, known := range editors {
		if sandbox.LookPath(known.name) != "" {
			reply.Found = append(reply.Found, Editor{Name: known.title, Command: known.name + " " + known.arguments})
		}
	}
	if argv, err := w.editor(""); err == nil {
		reply.Automatic = titleOf(argv[0])
	}
	return reply, nil
}

// titleOf returns the name by which people know a program.
func titleOf(program string) string {
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	for _, known := range editors {
		if known.name == name {
			return known.title
		}
	}
	return name
}

// checkEditor tells whether a command could open files: it names a program that
// is there. An empty command means the automatic choice.
func (w *Workbench) checkEditor(_ context.Context, in EditorCommand) (EditorAnswer, error) {
	argv, err := w.editor(in.Command)
	if err != nil {
		return EditorAnswer{}, err
	}
	return EditorAnswer{Name: titleOf(argv[0])}, nil
}

// tryEditor opens some file of the project with a command, stored or not.
func (w *Workbench) tryEditor(ctx context.Context, in EditorCommand) (EditorAnswer, error) {
	argv, err := w.editor(in.Command)
	if err != nil {
		return EditorAnswer{}, err
	}
	name := someFile(w.cfg.Folder)
	if name == "" {
		return EditorAnswer{}, backend.Problem(backend.ProblemEditorNothing)
	}
	answer := EditorAnswer{Name: titleOf(argv[0]), Path: filepath.ToSlash(name)}
	return answer, startEditor(ctx, argv, filepath.Join(w.cfg.Folder, name), 1)
}

// mostLooked is how many files and folders are looked at for one to open.
const mostLooked = 2000

// someFile returns the relative path of a regular file of a folder, preferably one
// at its top; empty if none is found. Hidden ones are left out.
func someFile(folder string) string {
	var deep string
	looked := 0
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		looked++
		switch {
		case looked > mostLooked:
			return fs.SkipAll
		case err != nil:
			return fs.SkipDir
		case path == folder:
			return nil
		case strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return nil
		}
		if filepath.Dir(name) == "." {
			deep = name
			return fs.SkipAll
		}
		if deep == "" {
			deep = name
		}
		return nil
	})
	return deep
}

// Editors are the editors that files can be opened in.
type Editors struct {
	Found []Editor `json:"found,omitempty"`
	// Automatic is the name of the one that is used without a choice; empty if there
	// is none.
	Automatic string `json:"automatic,omitempty"`
}

// Editor is an installed editor with a window of its own.
type Editor struct {
	Name    string `json:"name"`
	Command string `json:"command"`
}

// EditorCommand is for editors.check and editors.try.
type EditorCommand struct {
	Command string `json:"command"`
}

// EditorAnswer says which program a command runs, and which file it opened.
type EditorAnswer struct {
	Name string `json:"name"`
	Path string `json:"path,omitempty"`
}
