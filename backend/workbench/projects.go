package workbench

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/recent"
)

const (
	// maxFolders limits the folders that are proposed for a path, and maxEntries
	// how much of its parent is read for them.
	maxFolders = 20
	maxEntries = 10_000
)

// listProjects lists the folders that the user opened, in the order in which
// they were opened last.
func (w *Workbench) listProjects(ctx context.Context, _ backend.Empty) (ProjectList, error) {
	known, err := recent.List(w.cfg.Home)
	if err != nil {
		return ProjectList{}, err
	}
	if !slices.ContainsFunc(known, func(p recent.Project) bool { return p.Folder == w.cfg.Folder }) {
		known = slices.Insert(known, 0, recent.Project{Folder: w.cfg.Folder, Opened: time.Now()})
	}
	waiting, err := w.cfg.Store.Waiting(ctx)
	if err != nil {
		return ProjectList{}, err
	}
	folders := make([]string, len(known))
	for i, p := range known {
		folders[i] = p.Folder
	}
	seen := w.looking.all(ctx, folders)
	if err := ctx.Err(); err != nil {
		return ProjectList{}, err
	}
	var list ProjectList
	for _, p := range known {
		look := seen[p.Folder]
		list.Projects = append(list.Projects, RecentProject{
			Folder: p.Folder, Name: filepath.Base(p.Folder), Path: w.shortened(p.Folder), Opened: p.Opened.UnixMilli(),
			Waiting: waiting[p.Folder], Branch: look.branch, Missing: look.missing, Current: p.Folder == w.cfg.Folder,
		})
	}
	return list, nil
}

// openProject opens another folder in a process of its own.
func (w *Workbench) openProject(ctx context.Context, in ProjectRequest) (OpenedProject, error) {
	path, err := w.absolute(in.Folder)
	if err != nil {
		return OpenedProject{}, err
	}
	folder, err := ResolveFolder(path)
	switch {
	case err != nil:
		return OpenedProject{}, err
	case folder == w.cfg.Folder:
		return OpenedProject{}, backend.Problem(backend.ProblemProjectHere, folder)
	case w.cfg.OpenProject == nil:
		return OpenedProject{}, backend.Problem(backend.ProblemProjectUnopened, folder)
	}
	if err := w.expect(ctx, folder, in.Arrival); err != nil {
		return OpenedProject{}, err
	}
	address, err := w.cfg.OpenProject(ctx, folder)
	return OpenedProject{Folder: folder, Address: address}, err
}

// forgetProject takes a folder out of the list. Its sessions are kept.
func (w *Workbench) forgetProject(ctx context.Context, in ProjectRequest) (ProjectList, error) {
	if err := recent.Remove(w.cfg.Home, in.Folder); err != nil {
		return ProjectList{}, err
	}
	return w.listProjects(ctx, backend.Empty{})
}

// listFolders proposes folders for a path that the user is writing. A path that
// leads nowhere has none.
func (w *Workbench) listFolders(_ context.Context, in ProjectRequest) (FolderList, error) {
	path, err := w.absolute(in.Folder)
	if err != nil {
		return FolderList{}, nil // nothing can be proposed yet
	}
	dir, prefix := filepath.Split(path)
	d, err := os.Open(dir)
	if err != nil {
		return FolderList{}, nil
	}
	defer d.Close()
	entries, _ := d.ReadDir(maxEntries) // what was read before an error counts
	var names []string
	for _, entry := range entries {
		name := entry.Name()
		hidden := strings.HasPrefix(name, ".") && !strings.HasPrefix(prefix, ".")
		if hidden || !hasFold(name, prefix) || !leadsToFolder(dir, entry) {
			continue
		}
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) })
	var list FolderList
	for _, name := range names[:min(len(names), maxFolders)] {
		list.Folders = append(list.Folders, w.shortened(filepath.Join(dir, name)))
	}
	return list, nil
}

// hasFold reports whether name begins with prefix, in any case of letters.
func hasFold(name, prefix string) bool {
	return len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
}

func leadsToFolder(dir string, entry os.DirEntry) bool {
	if entry.Type()&os.ModeSymlink == 0 {
		return entry.IsDir()
	}
	info, err := os.Stat(filepath.Join(dir, entry.Name()))
	return err == nil && info.IsDir()
}

// absolute returns the path that a user wrote, in which ~ is the user's home. A
// relative path is refused, because the user cannot see what it is relative to.
func (w *Workbench) absolute(path string) (string, error) {
	full := w.fromHome(path)
	if _, err := os.Stat(full); err != nil || !filepath.IsAbs(full) { // a name may end with a space
		full = w.fromHome(strings.TrimSpace(path))
	}
	if !filepath.IsAbs(full) || strings.ContainsRune(full, 0) {
		return "", backend.Problem(backend.ProblemProjectPath, full).Because(errors.New("the path is not absolute"))
	}
	return full, nil
}

// fromHome returns a path in which ~ is the user's home, as far as that is known.
func (w *Workbench) fromHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if home := w.cfg.Getenv("HOME"); ok && (rest == "" || os.IsPathSeparator(rest[0])) && filepath.IsAbs(home) {
		return home + rest
	}
	return path
}

// shortened returns a path as it is shown, with ~ for the user's home.
func (w *Workbench) shortened(path string) string {
	home := w.cfg.Getenv("HOME")
	if rel, err := filepath.Rel(home, path); filepath.IsAbs(home) && err == nil && filepath.IsLocal(rel) {
		return filepath.Join("~", rel)
	}
	return path
}

// ProjectList has the recent projects, the one that was opened last first. The
// open project is always among them.
type ProjectList struct {
	Projects []RecentProject `json:"projects,omitempty"`
}

// RecentProject is a folder that the user opened.
type RecentProject struct {
	Folder  string `json:"folder"`
	Name    string `json:"name"`
	Path    string `json:"path"` // the folder as it is shown, with ~ for the user's home
	Branch  string `json:"branch,omitempty"`
	Opened  int64  `json:"opened"`            // in milliseconds
	Waiting int    `json:"waiting,omitempty"` // sessions that wait for the user
	Missing bool   `json:"missing,omitempty"` // there is no such folder now
	Current bool   `json:"current,omitempty"` // the folder of this process
}

// ProjectRequest is for projects.open, projects.folders and projects.forget. The
// first two accept ~ for the user's home.
type ProjectRequest struct {
	Folder string `json:"folder"`
	// Arrival is where projects.open leads to; nil is the project itself.
	Arrival *Arrival `json:"arrival,omitempty"`
}

// OpenedProject is a folder that was opened elsewhere. Address is where a
// browser finds it, with a one-time token; empty if it has a window.
type OpenedProject struct {
	Folder  string `json:"folder"`
	Address string `json:"address,omitempty"`
}

// FolderList proposes folders for a path, as they are shown.
type FolderList struct {
	Folders []string `json:"folders,omitempty"`
}
