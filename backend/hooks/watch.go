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
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/backend/settings"
)

const (
	// calm is how long nothing may happen before a change is told, and hectic how
	// long a change waits for that.
	calm, hectic = 150 * time.Millisecond, 2 * time.Second
	// polling is how often files are looked at where the system reports nothing.
	polling = 2 * time.Second
	// maxFolders limits how many folders of the project are watched, maxKnown of how
	// many files it is known that they were there, and maxChanges how many changes
	// are told at once.
	maxFolders, maxKnown, maxChanges = 500, 10_000, 64
)

// unwatched are folders that other programs fill, and the one of agents' worktrees.
var unwatched = []string{".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".venv", ".worktrees"}

// watcher tells of settings files that change, and of the files that hooks of
// fileChanged name. Its goroutine begins with the first session.
type watcher struct {
	hooks  *Hooks
	begin  sync.Once
	cancel context.CancelFunc
	ctx    context.Context
	ended  chan struct{}

	// open asks the system to tell of changes.
	open func() (*fsnotify.Watcher, error)
	poll time.Duration // see polling

	// What follows belongs to the goroutine.
	events *fsnotify.Watcher // nil if the system has none
	texts  []*settings.Text  // what was told last
	known  map[string]stamp  // files of the project
	files  bool              // whether files of the project are watched
	dirty  map[string]bool   // paths that may have changed
}

// stamp tells one state of a file from another where files are polled.
type stamp struct {
	size int64
	at   time.Time
}

func newWatcher(h *Hooks) *watcher {
	w := &watcher{
		hooks: h, ended: make(chan struct{}), open: fsnotify.NewWatcher, poll: polling, known: map[string]stamp{}, dirty: map[string]bool{},
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// start begins to watch, once. What changes after it returns is told.
func (w *watcher) start() {
	w.begin.Do(func() {
		for _, f := range w.watched() {
			w.texts = append(w.texts, w.hooks.settings.Read(f))
		}
		events, err := w.open()
		if err != nil {
			slog.Warn("files are polled, because the system does not tell of changes", "err", err)
		} else {
			w.events = events
		}
		w.follow()
		go w.run()
	})
}

// watched lists the files whose changes are told.
func (w *watcher) watched() []settings.File {
	return slices.Concat(w.hooks.settings.Files(), w.hooks.cfg.Others)
}

// close ends the goroutine and waits for it.
func (w *watcher) close() {
	w.cancel()
	w.begin.Do(func() { close(w.ended) }) // it was never started
	<-w.ended
}

func (w *watcher) run() {
	defer close(w.ended)
	var happened <-chan fsnotify.Event
	var failed <-chan error
	var tick <-chan time.Time
	if w.events != nil {
		defer w.events.Close()
		happened, failed = w.events.Events, w.events.Errors
	} else {
		ticker := time.NewTicker(w.poll)
		defer ticker.Stop()
		tick = ticker.C
	}
	settled := time.NewTimer(time.Hour)
	settled.Stop()
	defer settled.Stop()
	var first time.Time // of the changes that wait; zero if none do
	for {
		select {
		case <-w.ctx.Done():
			return
		case e := <-happened:
			if !w.notice(e) {
				continue
			}
			if first.IsZero() {
				first = time.Now()
			}
			settled.Reset(max(0, min(calm, hectic-time.Since(first))))
		case err := <-failed:
			slog.Warn("changes of files may have been missed", "err", err)
			first = time.Now()
			settled.Reset(calm)
		case <-settled.C:
			first = time.Time{}
			w.tell()
		case <-tick:
			w.tell()
		}
	}
}

// notice takes note of an event, and reports whether it matters.
func (w *watcher) notice(e fsnotify.Event) bool {
	if e.Op == fsnotify.Chmod {
		return false
	}
	for _, f := range w.watched() {
		if e.Name == f.Path() || e.Name == filepath.Dir(f.Path()) {
			return true
		}
	}
	if !w.files || !w.inProject(e.Name) {
		return false
	}
	w.mark(e.Name, true)
	return true
}

func (w *watcher) inProject(path string) bool {
	rel, err := filepath.Rel(w.hooks.cfg.Folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// tell tells of what has changed.
func (w *watcher) tell() {
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
		h.again(w.ctx)
		h.observe(agent.ConfigChangeInput{Source: string(f.Scope) + "_settings", Path: f.Path()})
	}
	w.follow()
	w.tellFiles()
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
func (w *watcher) tellFiles() {
	dirty := w.dirty
	w.dirty = map[string]bool{}
	about := w.about()
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

// event says what became of a file; empty if it is none, or came and went.
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
func (w *watcher) about() []hook.Handler {
	return slices.DeleteFunc(slices.Clone(w.hooks.current(w.ctx).handlers), func(x hook.Handler) bool {
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
func (w *watcher) follow() {
	before := w.files
	if w.files = len(w.about()) > 0; w.files && !before {
		clear(w.known)
	}
	var watched []string
	if w.events != nil {
		watched = w.events.WatchList()
	}
	want := map[string]bool{}
	if w.files {
		want = w.walk(watched, !before)
	}
	if w.events == nil {
		return
	}
	for _, f := range w.watched() {
		dir := filepath.Dir(f.Path())
		want[dir] = true
		if _, err := os.Stat(dir); err != nil {
			want[f.Root] = true // until it is there
		}
	}
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

// walk watches the project's folders, those near its root first, and returns them.
// A folder is listed once the watch over it stands, so that nothing is missed in
// between. At first the files are learnt; later those of new folders have just come.
func (w *watcher) walk(watched []string, first bool) (want map[string]bool) {
	want = map[string]bool{}
	queue := []string{w.hooks.cfg.Folder}
	seen := map[string]bool{} // on some systems each file takes a descriptor
	for n := 0; len(queue) > 0 && n < maxFolders && len(seen) < maxKnown; n++ {
		dir := queue[0]
		queue = queue[1:]
		want[dir] = true
		isNew := w.events == nil
		if w.events != nil && !slices.Contains(watched, dir) {
			isNew = true
			_ = w.events.Add(dir) // it may be gone
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			seen[path] = true
			switch {
			case !e.IsDir():
				if first || isNew {
					w.look(path, e, first)
				}
			case !slices.Contains(unwatched, e.Name()):
				queue = append(queue, path)
			}
		}
	}
	if w.events == nil && len(queue) == 0 {
		for path := range w.known {
			if !seen[path] {
				_, err := os.Lstat(path) // its folder may be closed to us
				w.mark(path, err != nil)
			}
		}
	}
	return want
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
