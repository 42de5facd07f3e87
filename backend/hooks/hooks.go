package hooks

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/internal/watch"
	"atelier.dev/atelier/backend/settings"
	"atelier.dev/atelier/backend/trust"
)

// Store keeps what was switched, what guards, and the log: a part of
// [backend.Store].
type Store interface {
	backend.Settings
	backend.HookLog
}

// Config is what hooks work with.
type Config struct {
	Folder string // the project, absolute and without links
	User   string // the user's home folder; without it there is no file of the user
	Store  Store
	Trust  *trust.Trust
	// Engine has what all engines share: how hooks reach other programs and hosts,
	// and what a rule is about.
	Engine hook.Options
	// Access says what a past call touched, as far as its input says it.
	Access func(tool string, input json.RawMessage) agent.Access
	// FolderOf returns the folder of a session that is stored; empty if there is none.
	// Without it, hooks are tried in the project.
	FolderOf func(ctx context.Context, session string) string
	// AddRule adds a rule to a session.
	AddRule func(ctx context.Context, session, rule string, d agent.Decision) error
	// Changed is called when the list of hooks changed, with an empty session, or
	// when the log has new entries of a session. It must not block.
	Changed func(session string)
	// Observe tells the hooks of all sessions that something happened outside of
	// their turns. It must not block, and may be nil.
	Observe func(agent.HookInput)
	Files
}

// Files extend the watch over the settings files to what others want to know,
// because one watch is enough.
type Files struct {
	// Others are files without hooks that are watched, too.
	Others []settings.File
	// FileChanged is called when a settings file or one of the others changed. It must
	// not block, and may be nil.
	FileChanged func()
}

// Hooks keeps the hooks of one folder. It is safe for concurrent use.
type Hooks struct {
	cfg      Config
	settings *settings.Reader
	log      *logWriter
	watch    *watcher

	// reader has room for the one who reads and judges the files: a reading begins with
	// what the one before it settled.
	reader chan struct{}

	mu       sync.Mutex
	list     *list             // nil before the first reading
	kept     map[string]string // of guards, by path of their file; see guarded
	settled  map[string]bool   // files whose guards were all decided about since the program began
	released map[string]bool   // hooks that the user did without, by id
	// trustedForRun says that the user trusts the project's hooks as they stand there, so
	// that none is missed until the program ends.
	trustedForRun bool
	changing      sync.Mutex // held while something is stored
}

// New returns the hooks of a folder. Close ends what runs.
func New(cfg Config) *Hooks {
	h := &Hooks{
		cfg: cfg, settings: settings.NewReader(cfg.Folder, cfg.User), reader: make(chan struct{}, 1),
		kept: map[string]string{}, settled: map[string]bool{}, released: map[string]bool{},
	}
	h.log = newLogWriter(cfg.Store, cfg.Changed)
	h.watch = newWatcher(h, watch.Config{})
	return h
}

// Close ends the watch over files and writes what is left of the log.
func (h *Hooks) Close(ctx context.Context) error {
	h.watch.Close()
	return h.log.close(ctx)
}

// Session says whose hooks an engine runs.
type Session struct {
	ID string
	// Account is the session whose rules hold: its own or that of the session that
	// started it.
	Account string
	Folder  string // where its tools act
	Agent   *hook.Agent
	// Own are hooks of the session alone, such as those of an agent's definition, and
	// Ready says whether they may run. They run after those of the settings files.
	Own   []hook.Handler
	Ready func() hook.Readiness
}

// Reads reports whether a path is that of a settings file.
func (h *Hooks) Reads(path string) bool {
	return slices.ContainsFunc(h.settings.Files(), func(f settings.File) bool { return f.Path() == path })
}

// Watch begins to watch the files, as the first session does.
func (h *Hooks) Watch() { h.watch.start() }

// Engine returns what runs the hooks of a session. The caller closes it.
func (h *Hooks) Engine(ctx context.Context, s Session) *hook.Engine {
	h.watch.start()
	return hook.New(h.options(ctx, s))
}

func (h *Hooks) options(ctx context.Context, s Session) hook.Options {
	o := h.cfg.Engine
	o.Folder, o.Agent, o.Log = s.Folder, s.Agent, h.log.add
	o.Handlers = func() []hook.Handler { return slices.Concat(h.current(ctx).handlers, s.Own) }
	o.Ready = func(x hook.Handler) hook.Readiness {
		if slices.ContainsFunc(s.Own, func(own hook.Handler) bool { return own.Origin.File == x.Origin.File }) {
			return s.Ready()
		}
		return h.ready(ctx, x, s.Folder)
	}
	o.Update = func(x hook.Handler, u hook.PermissionUpdate) error { return h.update(ctx, s.Account, x, u) }
	return o
}

// update adds a rule that a hook asked for (K-34). The rules themselves see to it
// that no allow lifts a deny. A hook that the user did not write cannot allow
// anything for longer than one call.
func (h *Hooks) update(ctx context.Context, session string, by hook.Handler, u hook.PermissionUpdate) error {
	if u.Behavior == agent.Allow && by.Origin.Scope != hook.ScopeUser && by.Origin.Scope != hook.ScopeCode {
		return errAllows
	}
	return h.cfg.AddRule(ctx, session, u.Tool, u.Behavior)
}
