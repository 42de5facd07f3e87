package projects

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
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/backend/recent"
)

const (
	// maxFolders limits the folders that are proposed for a path, and maxEntries
	// how much of its parent is read for them.
	maxFolders = 20
	maxEntries = 10_000
)

// Config is what the list of projects needs of the application.
type Config struct {
	Folder  string // the open project
	Home    string // where Atelier keeps its data
	Version string
	Store   backend.Store
	Getenv  func(string) string
	// Open opens another folder in a process of its own; nil if that is not possible here.
	Open func(ctx context.Context, folder string) (address string, err error)
	// Interrupt stops a session of this process. Unattended says that the process only looks on,
	// and that another one works on the folder's sessions.
	Interrupt  func(session string)
	Unattended bool
}

// Projects lists and opens folders. It is safe for concurrent use.
type Projects struct {
	cfg     Config
	looking folderLooks
}

// New returns a Projects.
func New(cfg Config) *Projects { return &Projects{cfg: cfg, looking: folderLooks{at: lookAt}} }

// Register registers the methods of projects.
func (p *Projects) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "project.info", p.info)
	dispatch.Handle(d, "projects.list", p.list)
	dispatch.Handle(d, "projects.open", p.open)
	dispatch.Handle(d, "projects.arrive", p.arrive)
	dispatch.Handle(d, "projects.forget", p.forget)
	dispatch.Handle(d, "projects.folders", p.folders)
	dispatch.Handle(d, "projects.work", p.work)
	dispatch.Handle(d, "projects.stop", p.stop)
}

// list lists the folders that the user opened, in the order in which
// they were opened last.
func (p *Projects) list(ctx context.Context, _ backend.Empty) (ProjectList, error) {
	known, err := recent.List(p.cfg.Home)
	if err != nil {
		return ProjectList{}, err
	}
	if !slices.ContainsFunc(known, func(each recent.Project) bool { return each.Folder == p.cfg.Folder }) {
		known = slices.Insert(known, 0, recent.Project{Folder: p.cfg.Folder, Opened: time.Now()})
	}
	waiting, err := p.cfg.Store.Waiting(ctx)
	if err != nil {
		return ProjectList{}, err
	}
	dirs := make([]string, len(known))
	for i, each := range known {
		dirs[i] = each.Folder
	}
	seen := p.looking.all(ctx, dirs)
	if err := ctx.Err(); err != nil {
		return ProjectList{}, err
	}
	var list ProjectList
	for _, each := range known {
		look := seen[each.Folder]
		list.Projects = append(list.Projects, RecentProject{
			Folder: each.Folder, Name: filepath.Base(each.Folder), Path: p.shortened(each.Folder), Opened: each.Opened.UnixMilli(),
			Waiting: waiting[each.Folder], Branch: look.branch, Missing: look.missing, Current: each.Folder == p.cfg.Folder,
		})
	}
	return list, nil
}

// open opens another folder in a process of its own.
func (p *Projects) open(ctx context.Context, in ProjectRequest) (OpenedProject, error) {
	path, err := p.absolute(in.Folder)
	if err != nil {
		return OpenedProject{}, err
	}
	folder, err := Resolve(path)
	switch {
	case err != nil:
		return OpenedProject{}, err
	case folder == p.cfg.Folder:
		return OpenedProject{}, backend.Problem(backend.ProblemProjectHere, folder)
	case p.cfg.Open == nil:
		return OpenedProject{}, backend.Problem(backend.ProblemProjectUnopened, folder)
	}
	if err := p.expect(ctx, folder, in.Arrival); err != nil {
		return OpenedProject{}, err
	}
	address, err := p.cfg.Open(ctx, folder)
	return OpenedProject{Folder: folder, Address: address}, err
}

// forget takes a folder out of the list. Its sessions are kept.
func (p *Projects) forget(ctx context.Context, in ProjectRequest) (ProjectList, error) {
	if err := recent.Remove(p.cfg.Home, in.Folder); err != nil {
		return ProjectList{}, err
	}
	return p.list(ctx, backend.Empty{})
}

// folders proposes folders for a path that the user is writing. A path that
// leads nowhere has none.
func (p *Projects) folders(_ context.Context, in ProjectRequest) (FolderList, error) {
	path, err := p.absolute(in.Folder)
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
		list.Folders = append(list.Folders, p.shortened(filepath.Join(dir, name)))
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
func (p *Projects) absolute(path string) (string, error) {
	full := p.fromHome(path)
	if _, err := os.Stat(full); err != nil || !filepath.IsAbs(full) { // a name may end with a space
		full = p.fromHome(strings.TrimSpace(path))
	}
	if !filepath.IsAbs(full) || strings.ContainsRune(full, 0) {
		return "", backend.Problem(backend.ProblemProjectPath, full).Because(errors.New("the path is not absolute"))
	}
	return full, nil
}

// fromHome returns a path in which ~ is the user's home, as far as that is known.
func (p *Projects) fromHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if home := p.cfg.Getenv("HOME"); ok && (rest == "" || os.IsPathSeparator(rest[0])) && filepath.IsAbs(home) {
		return home + rest
	}
	return path
}

// shortened returns a path as it is shown, with ~ for the user's home.
func (p *Projects) shortened(path string) string {
	home := p.cfg.Getenv("HOME")
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
