// Package watch tells when something in folders has changed: as the system reports it
// or, where the system reports nothing, by looking again and again.
package watch

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// A change is reported once nothing has happened for the time calm, or after
	// the time hectic at the latest.
	calm, hectic = 150 * time.Millisecond, 2 * time.Second
	// polling is how often folders are looked at where the system reports nothing.
	polling = 2 * time.Second
)

// Config is what a Watcher works with. Its functions are called one at a time.
type Config struct {
	// Notice reports whether a change at a path matters.
	Notice func(path string) bool
	// Tell is called once what happened has settled and, where folders are polled, each
	// time that they should be looked at. The context ends when the watcher is closed.
	Tell func(ctx context.Context)
	// Modes says that changes of files' modes matter, too.
	Modes bool
	// Open asks the system to tell of changes, and Poll is how often folders are looked
	// at if it cannot. Both may be left out.
	Open func() (*fsnotify.Watcher, error)
	Poll time.Duration
}

// Watcher watches folders. Its owner says which in the functions of its configuration,
// which alone may call [Watcher.Walk], [Watcher.Reach] and [Watcher.Keep].
type Watcher struct {
	cfg    Config
	begin  sync.Once
	ctx    context.Context
	cancel context.CancelFunc
	ended  chan struct{}
	woken  chan struct{}
	events *fsnotify.Watcher // nil if the system has none
}

// New returns a watcher, which does nothing before it is started.
func New(cfg Config) *Watcher {
	if cfg.Open == nil {
		cfg.Open = fsnotify.NewWatcher
	}
	if cfg.Poll == 0 {
		cfg.Poll = polling
	}
	w := &Watcher{cfg: cfg, ended: make(chan struct{}), woken: make(chan struct{}, 1)}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// Start begins to watch, once. First says what to watch; what changes after Start returns is
// told.
func (w *Watcher) Start(first func(ctx context.Context)) {
	w.begin.Do(func() {
		events, err := w.cfg.Open()
		if err != nil {
			slog.Warn("files are polled, because the system does not tell of changes", "err", err)
		} else {
			w.events = events
		}
		first(w.ctx)
		go w.run()
	})
}

// Close ends the watch and waits until nothing is told any more.
func (w *Watcher) Close() {
	w.cancel()
	w.begin.Do(func() { close(w.ended) }) // it was never started
	<-w.ended
}

// Wake has Tell called soon, such as after other folders are to be watched.
func (w *Watcher) Wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// Done is closed once the watch has ended.
func (w *Watcher) Done() <-chan struct{} { return w.ended }

func (w *Watcher) run() {
	defer close(w.ended)
	var happened <-chan fsnotify.Event
	var failed <-chan error
	var tick <-chan time.Time
	if w.events != nil {
		defer w.events.Close()
		happened, failed = w.events.Events, w.events.Errors
	} else {
		ticker := time.NewTicker(w.cfg.Poll)
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
			w.cfg.Tell(w.ctx)
		case <-tick:
			w.cfg.Tell(w.ctx)
		case <-w.woken:
			w.cfg.Tell(w.ctx)
		}
	}
}

// notice reports whether an event matters. The watch over a folder that is moved away
// goes with it: it ends, so that the one that takes its place gets a watch of its
// own.
func (w *Watcher) notice(e fsnotify.Event) bool {
	if e.Op == fsnotify.Chmod && !w.cfg.Modes {
		return false
	}
	if e.Has(fsnotify.Rename) || e.Has(fsnotify.Remove) {
		for _, dir := range w.Watched() {
			if dir == e.Name || strings.HasPrefix(dir, e.Name+string(filepath.Separator)) {
				_ = w.events.Remove(dir) // the system may have done so
			}
		}
	}
	return w.cfg.Notice(e.Name)
}
