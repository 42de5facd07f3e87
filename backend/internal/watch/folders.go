package watch

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Polls reports whether folders are looked at, because the system tells nothing.
func (w *Watcher) Polls() bool { return w.events == nil }

// Watched lists the folders that are watched.
func (w *Watcher) Watched() []string {
	if w.events == nil {
		return nil
	}
	return w.events.WatchList()
}

// Keep watches these folders from now on, and no others.
func (w *Watcher) Keep(want map[string]bool) {
	if w.events == nil {
		return
	}
	watched := w.Watched()
	for _, dir := range watched {
		if !want[dir] {
			_ = w.events.Remove(dir) // it may be gone
		}
	}
	for dir := range want {
		if !slices.Contains(watched, dir) {
			_ = w.events.Add(dir) // it may not be there, which its parent tells
		}
	}
}

// Reach watches the folders on the way from base, which is above path, to path, as far
// as they exist. It adds them to want, without links: two watches over one folder
// would end together. It returns the names on the way whose changes matter.
func (w *Watcher) Reach(base, path string, want map[string]bool) (names []string) {
	rel, err := filepath.Rel(base, path)
	if err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	dir := base
	for _, part := range strings.Split(rel, string(filepath.Separator)) {
		if dir = realFolder(dir); dir == "" {
			break
		}
		// The watch comes first, so that what is made afterwards is told.
		if w.events != nil && !want[dir] {
			_ = w.events.Add(dir) // it may be gone
		}
		want[dir] = true
		dir = filepath.Join(dir, part)
		names = append(names, dir)
	}
	return names
}

// realFolder returns the path of a folder without links; empty if it is not there.
func realFolder(dir string) string {
	path, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return ""
	}
	return path
}

// Tree is folders of which everything is watched that is below them.
type Tree struct {
	Roots []string
	// Folders limits how many folders are watched, and Entries how much is seen in
	// them: on some systems each file takes a descriptor.
	Folders, Entries int
	// Skip are the names of folders that are left out.
	Skip []string
	// Links says that links to folders are followed. Each folder is then watched once,
	// under its path without links.
	Links bool
	// Look is shown everything but folders. With fresh, the folder was not watched
	// before.
	Look func(path string, e fs.DirEntry, fresh bool)
}

// Walk watches the folders of a tree, those near its roots first, and adds them to want.
// A folder is listed once the watch over it stands, so that nothing is missed in
// between. Walk reports whether it saw everything.
func (w *Watcher) Walk(t Tree, want map[string]bool) (whole bool) {
	watched := w.Watched()
	queue := slices.Clone(t.Roots)
	entries, cut := 0, false
	walked := map[string]bool{}
	for n := 0; len(queue) > 0 && n < t.Folders && entries < t.Entries; n++ {
		dir := queue[0]
		queue = queue[1:]
		if t.Links {
			dir = realFolder(dir)
		}
		if dir == "" || walked[dir] {
			continue
		}
		walked[dir], want[dir] = true, true
		fresh := w.events == nil
		if w.events != nil && !slices.Contains(watched, dir) {
			fresh = true
			_ = w.events.Add(dir) // it may be gone
		}
		list, all := entriesOf(dir, t.Entries-entries)
		cut = cut || !all
		for _, e := range list {
			path := filepath.Join(dir, e.Name())
			entries++
			switch {
			case !e.IsDir() && !(t.Links && leadsToFolder(path, e)):
				t.Look(path, e, fresh)
			case !slices.Contains(t.Skip, e.Name()):
				queue = append(queue, path)
			}
		}
	}
	return len(queue) == 0 && !cut
}

// entriesOf lists the first entries of a folder, in the order of their names, and reports
// whether these are all. A folder may have more than anybody wants to read.
func entriesOf(dir string, most int) (list []fs.DirEntry, all bool) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, true // it is gone, or closed to us
	}
	defer f.Close()
	list, _ = f.ReadDir(most + 1) // what was read before an error counts
	all = len(list) <= most
	list = list[:min(most, len(list))]
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, all
}

func leadsToFolder(path string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
