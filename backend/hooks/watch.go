package hooks

import (
	"bytes"
	"context"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/backend/internal/watch"
	"atelier.dev/atelier/backend/settings"
)

// maxFolders limits the watched folders of the project, maxKnown the files that are
// remembered, and maxChanges the changes that are reported at once.
const maxFolders, maxKnown, maxChanges = 500, 10_000, 64

// unwatched are folders that other programs fill, and the one of agents' worktrees.
var unwatched = []string{".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".venv", ".worktrees"}

// watcher tells of settings files that change, and of the files that hooks of
// fileChanged name. It begins with the first session.
type watcher struct {
	hooks *Hooks
	*watch.Watcher

	// The fields below belong to the watcher's goroutine.
	texts []*settings.Text // what was told last
	known map[string]stamp // files of the project
	files bool             // whether files of the project are watched
	dirty map[string]bool  // paths that may have changed
}

// stamp tells one state of a file from another where files are polled.
type stamp struct {
	size int64
	at   time.Time
}

func newWatcher(h *Hooks, cfg watch.Config) *watcher {
	w := &watcher{hooks: h, known: map[string]stamp{}, dirty: map[string]bool{}}
	cfg.Notice, cfg.Tell = w.notice, w.tell
	w.Watcher = watch.New(cfg)
	return w
}

// start begins to watch, once. Changes after it returns are reported.
func (w *watcher) start() {
	w.Start(func(ctx context.Context) {
		for _, f := range w.watched() {
			w.texts = append(w.texts, w.hooks.settings.Read(f))
		}
		w.follow(ctx)
	})
}

// watched lists the files whose changes are told.
func (w *watcher) watched() []settings.File {
	return slices.Concat(w.hooks.settings.Files(), w.hooks.cfg.Others)
}

// notice takes note of a change, and reports whether it matters.
func (w *watcher) notice(path string) bool {
	for _, f := range w.watched() {
		if path == f.Path() || path == filepath.Dir(f.Path()) {
			return true
		}
	}
	if !w.files || !w.inProject(path) {
		return false
	}
	w.mark(path, true)
	return true
}

func (w *watcher) inProject(path string) bool {
	rel, err := filepath.Rel(w.hooks.cfg.Folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// tell tells of what has changed.
func (w *watcher) tell(ctx context.Context) {
	h := w.hooks
	own := len(h.settings.Files())
	for i, f := range w.watched() {
		now := h.settings.Read(f)
		if sameText(w.texts[i], now) {
			continue
		}
		w.texts[i] = now
		if h.cfg.FileChanged != nil {
			h.cfg.FileChanged()
		}
		if i >= own {
			continue
		}
		h.again(ctx)
		h.observe(agent.ConfigChangeInput{Source: string(f.Scope) + "_settings", Path: f.Path()})
	}
	w.follow(ctx)
	w.tellFiles(ctx)
}

// observe passes on what was seen.
func (h *Hooks) observe(data agent.HookInput) {
	if h.cfg.Observe != nil {
		h.cfg.Observe(data)
	}
}

// sameText reports whether two readings of a file are the same.
func sameText(a, b *settings.Text) bool {
	if a == b {
		return true
	}
	if a.There != b.There || (a.Err == nil) != (b.Err == nil) || a.Err != nil && a.Err.Error() != b.Err.Error() {
		return false
	}
	return slices.EqualFunc(a.Members, b.Members, func(x, y settings.Member) bool { return x.Name == y.Name && bytes.Equal(x.Raw, y.Raw) })
}

// tellFiles tells hooks of the files that changed and that they name.
func (w *watcher) tellFiles(ctx context.Context) {
	dirty := w.dirty
	w.dirty = map[string]bool{}
	about := w.about(ctx)
	if len(about) == 0 {
		return
	}
	engine := w.hooks.trying(w.hooks.cfg.Folder)
	defer engine.Close()
	told := 0
	for _, path := range slices.Sorted(maps.Keys(dirty)) {
		data := agent.FileChangedInput{Path: path, Event: w.event(path)}
		if data.Event == "" {
			continue
		}
		matches := func(x hook.Handler) bool { return len(engine.Match(x, agent.HookCall{Data: data}).Inputs) > 0 }
		if !slices.ContainsFunc(about, matches) {
			continue
		}
		if told++; told > maxChanges {
			slog.Warn("hooks are not told of all files that changed at once", "told", maxChanges)
			return
		}
		w.hooks.observe(data)
	}
}

// event says what happened to a file since it was last seen; empty for a folder, and
// for a file that was created and removed in between.
func (w *watcher) event(path string) string {
	_, before := w.known[path]
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.IsDir():
		return ""
	case err == nil:
		w.learn(path, info)
		if before {
			return "change"
		}
		return "add"
	case before:
		delete(w.known, path)
		return "unlink"
	}
	return ""
}

// about returns the hooks of fileChanged.
func (w *watcher) about(ctx context.Context) []hook.Handler {
	return slices.DeleteFunc(slices.Clone(w.hooks.current(ctx).handlers), func(x hook.Handler) bool {
		return x.Point != agent.HookFileChanged || x.Defect != ""
	})
}

func (w *watcher) learn(path string, info fs.FileInfo) {
	if _, ok := w.known[path]; ok || len(w.known) < maxKnown {
		w.known[path] = stamp{info.Size(), info.ModTime()}
	}
}

// follow watches the folders that matter now, and no others, and takes note of
// files that changed where the system did not tell.
func (w *watcher) follow(ctx context.Context) {
	before := w.files
	if w.files = len(w.about(ctx)) > 0; w.files && !before {
		clear(w.known)
	}
	want := map[string]bool{}
	if w.files {
		w.walk(want, !before)
	}
	for _, f := range w.watched() {
		dir := filepath.Dir(f.Path())
		want[dir] = true
		if _, err := os.Stat(dir); err != nil {
			want[f.Root] = true // until it is there
		}
	}
	w.Keep(want)
}

// walk watches the project's folders. At first the files are learnt; later those of
// new folders have just come.
func (w *watcher) walk(want map[string]bool, first bool) {
	seen := map[string]bool{}
	whole := w.Walk(watch.Tree{
		Roots: []string{w.hooks.cfg.Folder}, Folders: maxFolders, Entries: maxKnown, Skip: unwatched,
		Look: func(path string, e fs.DirEntry, fresh bool) {
			seen[path] = true
			if first || fresh {
				w.look(path, e, first)
			}
		},
	}, want)
	if !w.Polls() || !whole {
		return
	}
	for path := range w.known {
		if !seen[path] {
			_, err := os.Lstat(path) // its folder may be closed to us
			w.mark(path, err != nil)
		}
	}
}

// look takes note of a file that was found: it is learnt at first, and may have
// changed later.
func (w *watcher) look(path string, e fs.DirEntry, first bool) {
	info, err := e.Info()
	if err != nil {
		return // it is gone
	}
	if first {
		w.learn(path, info)
		return
	}
	before, ok := w.known[path]
	room := len(w.known) < maxKnown // what cannot be learnt would be new each time
	w.mark(path, !ok && room || ok && (before.size != info.Size() || !before.at.Equal(info.ModTime())))
}

// mark takes note that a file may have changed.
func (w *watcher) mark(path string, changed bool) {
	if changed && len(w.dirty) < maxKnown {
		w.dirty[path] = true
	}
}
