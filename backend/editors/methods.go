package editors

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
)

// Config is what editors need of the application.
type Config struct {
	Folder string // the project's
	Store  backend.Settings
	Getenv func(string) string
	// Worktree returns the worktree of a session, relative to the project; empty for a
	// session without one, and for none.
	Worktree func(ctx context.Context, session string) (string, error)
	// IsSettings reports whether a path is one of the user's own settings files.
	IsSettings func(path string) bool
}

// Editors opens files in the user's editor. It is safe for concurrent use.
type Editors struct{ cfg Config }

// New returns the editors of a project.
func New(cfg Config) *Editors { return &Editors{cfg} }

// Register registers the methods of editors.
func (e *Editors) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "files.open", e.open)
	dispatch.Handle(d, "editors.list", e.list)
	dispatch.Handle(d, "editors.check", e.check)
	dispatch.Handle(d, "editors.try", e.try)
}

// open opens a file of the project, or of a session's worktree, in the user's
// editor.
func (e *Editors) open(ctx context.Context, in OpenFileRequest) (backend.Empty, error) {
	var none backend.Empty
	tree, err := e.cfg.Worktree(ctx, in.Session)
	if err != nil {
		return none, err
	}
	path, err := e.find(in.Path, tree)
	if err != nil {
		return none, err
	}
	prefs, err := backend.StoredPreferences(ctx, e.cfg.Store)
	if err != nil {
		return none, err
	}
	argv, err := e.command(prefs.Editor)
	if err != nil {
		return none, err
	}
	return none, start(ctx, argv, path, in.Line)
}

// find returns the absolute path of an existing file of the project, or of the
// user's own settings file. A relative path is one in a worktree, unless that is empty.
func (e *Editors) find(shown, tree string) (string, error) {
	name := changes.Unquote(shown)
	if e.cfg.IsSettings(name) {
		return name, exists(name, shown)
	}
	path := filepath.FromSlash(name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(e.cfg.Folder, filepath.FromSlash(tree), path)
	}
	if rel, err := filepath.Rel(e.cfg.Folder, path); err != nil || !filepath.IsLocal(rel) || strings.ContainsRune(path, 0) {
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

// list returns the known editors that are installed, and the one that opens
// files as long as the user names none.
func (e *Editors) list(context.Context, backend.Empty) (EditorList, error) {
	var reply EditorList
	for _, k := range known {
		if sandbox.LookPath(k.name) != "" {
			reply.Found = append(reply.Found, Editor{Name: k.title, Command: k.name + " " + k.arguments})
		}
	}
	if argv, err := e.command(""); err == nil {
		reply.Automatic = titleOf(argv[0])
	}
	return reply, nil
}

// titleOf returns the name by which people know a program.
func titleOf(program string) string {
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	for _, k := range known {
		if k.name == name {
			return k.title
		}
	}
	return name
}

// check tells whether a command could open files: it names a program that
// is there. An empty command means the automatic choice.
func (e *Editors) check(_ context.Context, in EditorCommand) (EditorAnswer, error) {
	argv, err := e.command(in.Command)
	if err != nil {
		return EditorAnswer{}, err
	}
	return EditorAnswer{Name: titleOf(argv[0])}, nil
}

// try opens some file of the project with a command, stored or not.
func (e *Editors) try(ctx context.Context, in EditorCommand) (EditorAnswer, error) {
	argv, err := e.command(in.Command)
	if err != nil {
		return EditorAnswer{}, err
	}
	name := someFile(e.cfg.Folder)
	if name == "" {
		return EditorAnswer{}, backend.Problem(backend.ProblemEditorNothing)
	}
	answer := EditorAnswer{Name: titleOf(argv[0]), Path: filepath.ToSlash(name)}
	return answer, start(ctx, argv, filepath.Join(e.cfg.Folder, name), 1)
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

// EditorList has the editors that files can be opened in.
type EditorList struct {
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

// OpenFileRequest is for files.open. A relative path is one in the session's worktree,
// if it has one. Line counts from 1; 0 means the beginning.
type OpenFileRequest struct {
	Session string `json:"session,omitempty"`

	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
}
