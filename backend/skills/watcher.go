package skills

import (
	"context"
	"hash/fnv"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend/internal/watch"
)

// maxWatched limits how many folders of skills are watched, and maxSeen how many files of
// them are looked at.
const maxWatched, maxSeen = 2000, 40_000

// unwatched are folders that other programs fill.
var unwatched = []string{".git", "node_modules", "__pycache__", ".venv"}

// watcher has everything read again when a file of it changes. It begins with the first
// reading.
type watcher struct {
	skills *Skills
	*watch.Watcher

	// The fields below belong to the watcher's goroutine: the folders of skills that
	// are watched, the names on the way to them, and what polling saw last.
	inside, ways map[string]bool
	seen         uint64
}

func newWatcher(s *Skills, cfg watch.Config) *watcher {
	w := &watcher{skills: s}
	cfg.Notice, cfg.Tell, cfg.Modes = w.notice, w.tell, true
	w.Watcher = watch.New(cfg)
	return w
}

// start begins to watch, once. Files that change after it returns are read
// again.
func (w *watcher) start() { w.Start(func(context.Context) { w.seen = w.follow() }) }

func (w *watcher) notice(path string) bool {
	return w.ways[path] || w.inside[path] || w.inside[filepath.Dir(path)]
}

func (w *watcher) tell(ctx context.Context) {
	seen := w.follow()
	same := w.Polls() && seen == w.seen
	if w.seen = seen; same {
		return
	}
	if err := w.skills.again(); err != nil && ctx.Err() == nil {
		slog.Warn("skills were not read again", "err", err)
	}
}

// follow watches the folders that matter now, and no others. It returns what tells one
// state of their files from another where they are polled.
func (w *watcher) follow() uint64 {
	s := w.skills
	folders := s.folders()
	if !slices.Contains(folders, s.cfg.Folder) {
		folders = append(folders, s.cfg.Folder)
	}
	want := map[string]bool{}
	w.inside, w.ways = map[string]bool{}, map[string]bool{}
	tree := watch.Tree{Folders: maxWatched, Entries: maxSeen, Skip: unwatched, Links: true}
	for _, folder := range folders {
		for _, root := range s.roots(folder) {
			base := folder
			if root.Scope == agent.ScopeUser {
				base = s.cfg.User
			}
			if slices.Contains(tree.Roots, root.Path) {
				continue
			}
			tree.Roots = append(tree.Roots, root.Path)
			for _, name := range w.Reach(base, root.Path, want) {
				w.ways[name] = true
			}
		}
	}
	state := fnv.New64a()
	tree.Look = func(path string, e fs.DirEntry, _ bool) {
		if w.Polls() {
			sum(state, path, e)
		}
	}
	w.Walk(tree, w.inside)
	if w.Polls() {
		for _, dir := range slices.Sorted(maps.Keys(w.inside)) {
			_, _ = io.WriteString(state, dir+"\x00")
		}
	}
	maps.Copy(want, w.inside)
	w.Keep(want)
	return state.Sum64()
}

// sum adds the mode, the size and the time of a file.
func sum(to io.Writer, path string, e fs.DirEntry) {
	info, err := e.Info()
	if err != nil {
		return // it is gone
	}
	_, _ = io.WriteString(to, path+"\x00"+info.Mode().String()+strconv.FormatInt(info.Size(), 10)+info.ModTime().String())
}
