package agents

import (
	"context"
	"hash/fnv"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"strconv"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend/internal/watch"
)

// maxWatched limits how many folders of agent files are watched, and maxSeen how many files of
// them are looked at.
const maxWatched, maxSeen = 500, 20_000

// watcher has the files read again when one of them changes. It begins with the first reading.
type watcher struct {
	agents *Agents
	*watch.Watcher

	// The fields below belong to the watcher's goroutine: the folders of agent files
	// that are watched, the names on the way to them, and what polling saw last.
	inside, ways map[string]bool
	seen         uint64
}

func newWatcher(a *Agents) *watcher {
	w := &watcher{agents: a}
	w.Watcher = watch.New(watch.Config{Notice: w.notice, Tell: w.tell})
	return w
}

func (w *watcher) start() { w.Start(func(context.Context) { w.seen = w.follow() }) }

func (w *watcher) notice(path string) bool { return w.ways[path] || w.inside[filepath.Dir(path)] }

func (w *watcher) tell(context.Context) {
	seen := w.follow()
	same := w.Polls() && seen == w.seen
	if w.seen = seen; !same {
		w.agents.again()
	}
}

// follow watches the folders that matter now, and no others. It returns what tells one state of
// their files from another where they are polled.
func (w *watcher) follow() uint64 {
	want := map[string]bool{}
	w.inside, w.ways = map[string]bool{}, map[string]bool{}
	state := fnv.New64a()
	tree := watch.Tree{Folders: maxWatched, Entries: maxSeen, Skip: []string{".git", "node_modules"}, Links: true}
	for _, root := range w.agents.roots() {
		base := w.agents.cfg.Folder
		if root.Scope == agent.ScopeUser {
			base = w.agents.cfg.User
		}
		tree.Roots = append(tree.Roots, root.Path)
		for _, name := range w.Reach(base, root.Path, want) {
			w.ways[name] = true
		}
	}
	tree.Look = func(path string, e fs.DirEntry, _ bool) {
		if info, err := e.Info(); err == nil && w.Polls() {
			_, _ = io.WriteString(state, path+"\x00"+strconv.FormatInt(info.Size(), 10)+info.ModTime().String())
		}
	}
	w.Walk(tree, w.inside)
	maps.Copy(want, w.inside)
	w.Keep(want)
	return state.Sum64()
}
