// Package workbench is the application: one service for each panel, over
// sessions that run here. It knows neither the window nor SQL. A host gives it
// a [backend.Store], a [backend.KeyStore] and a folder, calls it through
// [Workbench.Call] and watches it through [Workbench.Subscribe]. The window,
// the browser mode and the command line are three such hosts.
package workbench

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/journal"
	"atelier.dev/atelier/agent/llm"
	client "atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/agent/permission"
	"atelier.dev/atelier/agent/permission/rule"
	"atelier.dev/atelier/agent/profile"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/caches"
	"atelier.dev/atelier/backend/feed"
	"atelier.dev/atelier/backend/guard"
	"atelier.dev/atelier/backend/hooks"
	"atelier.dev/atelier/backend/live"
	"atelier.dev/atelier/backend/mcp"
	"atelier.dev/atelier/backend/models"
	"atelier.dev/atelier/backend/review"
	"atelier.dev/atelier/backend/skills"
	"atelier.dev/atelier/backend/trust"
	"atelier.dev/atelier/backend/unsent"
)

//go:generate go test . -run TestTypeScript -update

// Config is what a host gives a workbench.
type Config struct {
	Folder  string // the project, absolute and with links resolved
	Home    string // the folder where Atelier keeps its data
	Version string
	Store   backend.Store
	Keys    backend.KeyStore
	// Search finds texts in the logs of the store; nil if nothing does.
	Search backend.Searcher
	// Getenv reads the environment; os.Getenv outside tests.
	Getenv func(string) string
	// OpenLink opens a checked http(s) address outside Atelier; nil if the page
	// does that itself.
	OpenLink func(url string) error
	// Notify shows a notice outside the page, without waiting for it; nil if the
	// page does that itself.
	Notify func(backend.Notice)
	// Zoom scales the page; nil if the page's browser does that itself.
	Zoom func(percent int)
	// PickFolder asks the user for a folder, which is empty if the user picks
	// none; nil if the page asks for a path instead.
	PickFolder func(title string) (string, error)
	// PickSave asks the user for the path of a new file, by its usual name; empty if
	// the user picks none. It is nil if the page saves files itself.
	PickSave func(name string) (string, error)
	// OpenProject opens another folder in a process of its own, or brings the
	// window that has it to the front. The address is that of a folder that is
	// served to a browser, else empty.
	OpenProject func(ctx context.Context, folder string) (address string, err error)
	// Unattended says that nobody can be asked, so that calls that need an
	// approval are denied.
	Unattended bool
	// ReadOnly keeps sessions from changing anything: files are not written,
	// and commands run only if they can be confined.
	ReadOnly bool
	// Rules hold for every session, in addition to its permission mode, and so do
	// RunRules, which name some calls of a tool.
	Rules    permission.Rules
	RunRules []rule.Rule
	Limits   agent.Limits
	// Naming selects the tool names that models are shown.
	Naming profile.Naming
	// Retry says when a failed request is asked again.
	Retry llm.RetryPolicy
	// Prepared is what was made before; nil means nothing.
	Prepared *Prepared
	// Observe is called with every event, after it was stored and before it is
	// shown, from the goroutine of its session; it may be nil. Events about
	// tasks go to pages only.
	Observe func(agent.Event)
}

// Workbench is the application on one folder. All its methods are safe for
// concurrent use.
type Workbench struct {
	cfg       Config
	calls     *Dispatcher
	feed      *feed.Feed
	providers *models.Providers
	sessions  *live.Sessions
	places    places
	edits     edits
	undoLogs  undoLogs
	guard     *guard.Guard
	marking   sync.Mutex  // held while a session's marks change
	setUp     atomic.Bool // the hooks of the folder's setup have run
	hooks     *hooks.Hooks
	servers   *mcp.Servers
	skills    *skills.Skills
	asking    *asking
	callers   callers
	trust     *trust.Trust
	review    *review.Reviewer
	choices   choices
	caches    *caches.Caches
	journal   *journal.Journal
	staged    staged
	importing importing
	unsent    *unsent.Texts

	ctx    context.Context // ends when the workbench closes
	cancel context.CancelFunc
	// measuring is held while a context is measured, so that only one is
	// measured at a time.
	measuring chan struct{}
	looks     looks
	looking   folderLooks
	relinked  relinked
}

// New returns a workbench. Close stops everything that runs in it.
func New(cfg Config) *Workbench {
	if cfg.Prepared == nil {
		cfg.Prepared = &Prepared{catalogue: models.Catalogue(cfg.Home)}
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &Workbench{
		cfg: cfg, feed: feed.New(), ctx: ctx, cancel: cancel, places: places{bySession: map[string]workplace{}}, edits: edits{bySession: map[string]editLog{}}, undoLogs: undoLogs{bySession: map[string]undoLog{}},
		providers: models.New(models.Config{Keys: cfg.Keys, Settings: cfg.Store, Getenv: cfg.Getenv, Home: cfg.Home, Catalogue: cfg.Prepared.catalogue}),
		importing: importing{turn: make(chan struct{}, 1)},
		measuring: make(chan struct{}, 1), choices: choices{changing: make(chan struct{}, 1)}, looks: looks{held: make(chan struct{}, 1)}, looking: folderLooks{at: lookAt},
		guard:  guard.New(guard.Config{Folder: cfg.Folder, User: userHome(cfg), Store: cfg.Store, Rules: cfg.RunRules}),
		unsent: unsent.New(cfg.Store, cfg.Folder),
	}
	w.trust = trust.New(trust.Config{Folder: cfg.Folder, User: userHome(cfg), Store: cfg.Store})
	w.asking = &asking{bench: w, calls: map[client.Caller]func(agent.SideRequest) bool{}}
	w.servers = w.newServers()
	w.skills = w.newSkills()
	w.hooks = w.newHooks()
	w.review = review.New(w.trust, w.hooks, w.servers, w.skills)
	w.journal = journal.Open(cfg.Home)
	w.caches = caches.New(filepath.Join(cfg.Home, "confined"), caches.MaxBytes, time.Now)
	w.sessions = live.New(live.Config{
		Log: cfg.Store, Check: w.mayRun, Build: w.newSession, Start: w.sessionStart, Show: w.show,
		CleanUp: w.cleanUp, Occupied: w.occupied, SideJobs: w.sideJobs,
	})
	w.calls = w.dispatcher()
	return w
}

// dispatcher registers every method that a front end can call.
func (w *Workbench) dispatcher() *Dispatcher {
	d := &Dispatcher{methods: map[string]method{}}
	handle(d, "project.info", w.projectInfo)
	handle(d, "projects.list", w.listProjects)
	handle(d, "projects.open", w.openProject)
	handle(d, "projects.arrive", w.arrive)
	handle(d, "projects.forget", w.forgetProject)
	handle(d, "projects.folders", w.listFolders)
	w.sessionMethods(d)
	w.transcriptMethods(d)
	handle(d, "conversation.open", w.openConversation)
	handle(d, "conversation.history", w.history)
	handle(d, "conversation.event", w.event)
	handle(d, "conversation.find", w.find)
	handle(d, "conversation.landmark", w.landmark)
	handle(d, "conversation.breakdown", w.breakdown)
	handle(d, "conversation.send", w.send)
	handle(d, "conversation.command", w.runCommand)
	handle(d, "conversation.continue", w.continueTurn)
	handle(d, "conversation.compact", w.compact)
	handle(d, "conversation.interrupt", w.interrupt)
	handle(d, "conversation.answer", w.answer)
	handle(d, "approvals.list", w.approvals)
	handle(d, "conversation.configure", w.configure)
	handle(d, "sandbox.level", w.sandboxLevel)
	handle(d, "sandbox.caches", w.sandboxCaches)
	handle(d, "sandbox.clear", w.clearCaches)
	handle(d, "permissions.ledger", w.ledger)
	handle(d, "permissions.suggest_for_call", w.suggestForCall)
	handle(d, "away.look", w.look)
	handle(d, "away.leave", w.lookAway)
	handle(d, "away.dismiss", w.dismissAbsence)
	handle(d, "queue.add", w.addQueued)
	handle(d, "queue.edit", w.editQueued)
	handle(d, "queue.list", w.listQueued)
	handle(d, "queue.move", w.moveQueued)
	handle(d, "queue.remove", w.removeQueued)
	handle(d, "queue.run", w.runQueued)
	handle(d, "tasks.list", w.listTasks)
	handle(d, "tasks.output", w.taskOutput)
	handle(d, "tasks.stop", w.stopTask)
	handle(d, "tasks.open", w.openTask)
	handle(d, "changes.list", w.listChanges)
	handle(d, "changes.diff", w.diffOfChange)
	handle(d, "changes.lines", w.linesOfFile)
	handle(d, "changes.put_back", w.putBack)
	handle(d, "changes.stage", w.stage)
	handle(d, "changes.unstage", w.unstage)
	handle(d, "changes.commit", w.commit)
	handle(d, "changes.branch", w.newBranch)
	handle(d, "changes.propose_message", w.proposeMessage)
	w.undoMethods(d)
	handle(d, "files.open", w.openFile)
	handle(d, "files.blame", w.blame)
	handle(d, "files.list", w.listFiles)
	handle(d, "editors.list", w.listEditors)
	handle(d, "editors.check", w.checkEditor)
	handle(d, "editors.try", w.tryEditor)
	handle(d, "costs.summary", w.costs)
	w.modelMethods(d)
	w.storeMethods(d)
	handle(d, "permissions.rules", w.listRules)
	handle(d, "permissions.add", w.addRule)
	handle(d, "permissions.remove", w.removeRule)
	handle(d, "permissions.accept", w.acceptRules)
	handle(d, "permissions.try", w.tryRule)
	handle(d, "permissions.suggest", w.suggestRules)
	w.hookMethods(d)
	w.serverMethods(d)
	w.skillMethods(d)
	handle(d, "preferences.get", w.preferences)
	handle(d, "preferences.change", w.changePreferences)
	w.unsentMethods(d)
	handle(d, "host.open_link", w.openLink)
	handle(d, "host.notify", w.notify)
	handle(d, "host.zoom", w.zoom)
	handle(d, "host.pick_folder", w.pickFolder)
	return d
}

// sessionMethods registers the methods of the list of sessions, and of its branches.
func (w *Workbench) sessionMethods(d *Dispatcher) {
	handle(d, "sessions.list", w.listSessions)
	handle(d, "sessions.create", w.createSession)
	handle(d, "sessions.rename", w.renameSession)
	handle(d, "sessions.search", w.searchSessions)
	handle(d, "sessions.fork", w.ForkSession)
	handle(d, "sessions.branches", w.branches)
	handle(d, "sessions.compare", w.compareBranches)
	handle(d, "sessions.compare_file", w.compareFile)
	handle(d, "sessions.take", w.take)
	handle(d, "sessions.get", w.getSession)
	handle(d, "sessions.mark", w.markSession)
	handle(d, "sessions.remove", w.removeSession)
	handle(d, "worktrees.list", w.listWorktrees)
	handle(d, "worktrees.remove", w.removeWorktree)
}

// undoMethods registers the methods that take back what was done.
func (w *Workbench) undoMethods(d *Dispatcher) {
	handle(d, "undo.preview", w.previewUndo)
	handle(d, "undo.apply", w.applyUndo)
	handle(d, "undo.rewind", w.rewind)
	handle(d, "undo.bring_back", w.bringBack)
	handle(d, "undo.resend", w.resend)
}

// storeMethods registers the methods of the database's state, and of folders that
// were moved.
func (w *Workbench) storeMethods(d *Dispatcher) {
	handle(d, "store.health", w.storeHealth)
	handle(d, "store.accept", w.acceptLoss)
	handle(d, "project.moved", w.movedHere)
	handle(d, "project.bring_over", w.bringOver)
	handle(d, "project.take_back", w.takeBack)
	handle(d, "project.leave_there", w.leaveThere)
}

// modelMethods registers the methods of models, their keys and their addresses.
func (w *Workbench) modelMethods(d *Dispatcher) {
	handle(d, "models.list", w.providers.List)
	handle(d, "models.local", w.providers.Local)
	handle(d, "models.test", w.providers.Test)
	handle(d, "keys.list", w.providers.ListKeys)
	handle(d, "keys.set", w.providers.SetKey)
	handle(d, "keys.remove", w.providers.RemoveKey)
	handle(d, "endpoints.list", w.providers.ListEndpoints)
	handle(d, "endpoints.set", w.providers.SetEndpoint)
	handle(d, "endpoints.remove", w.providers.RemoveEndpoint)
}

// Subscribe passes every [feed.Envelope], as JSON, to watch until cancel is called.
// watch must not block.
func (w *Workbench) Subscribe(watch func(envelope []byte)) (cancel func()) {
	return w.feed.Subscribe(watch)
}

// Close stops everything that runs. Turns that wait for a person stay open and
// resume when the session is opened again; all others are interrupted and
// recorded as such. It does not close the store.
func (w *Workbench) Close(ctx context.Context) error {
	err := errors.Join(w.sessions.Close(ctx), w.endLooking(ctx), w.servers.Close(ctx))
	// Each of these ends a watch over files. Linux takes 8 to 16 ms for one, and no longer for all at once.
	var hooksErr, skillsErr error
	var ends sync.WaitGroup
	ends.Go(func() { hooksErr = w.hooks.Close(ctx) })
	ends.Go(func() { skillsErr = w.skills.Close(ctx) })
	ends.Go(func() { w.cancel(); w.cfg.Prepared.Wait(); w.caches.Wait(); w.journal.Close() })
	ends.Wait()
	return errors.Join(err, hooksErr, skillsErr, w.staged.close())
}

// session returns a session of this folder.
func (w *Workbench) session(ctx context.Context, id string) (backend.SessionInfo, error) {
	if err := backend.CheckSessionID(id); err != nil {
		return backend.SessionInfo{}, err
	}
	info, err := w.cfg.Store.Session(ctx, id)
	if err != nil {
		return backend.SessionInfo{}, err
	}
	if err := w.belongsHere(info); err != nil {
		return backend.SessionInfo{}, err
	}
	return info, nil
}

// belongsHere refuses a session of another folder, because its tools would act
// here and its log would not say so.
func (w *Workbench) belongsHere(info backend.SessionInfo) error {
	if info.Folder == w.cfg.Folder {
		return nil
	}
	return backend.Problem(backend.ProblemSessionForeign, info.Folder)
}

// publish stores and shows an event from outside its session's turns, such as a
// rename.
func (w *Workbench) publish(ctx context.Context, session string, p agent.Payload) error {
	return w.publishIn(ctx, session, 0, p)
}

// publishIn is publish for an event that belongs to a turn.
func (w *Workbench) publishIn(ctx context.Context, session string, turn int, p agent.Payload) error {
	ev := agent.Event{Session: session, Turn: turn, At: time.Now().UnixMilli(), Data: p}
	seq, err := w.cfg.Store.Append(ctx, ev)
	if err != nil {
		return err
	}
	ev.Seq = seq
	w.show(ev)
	return nil
}

// show passes on an event. A durable one has been stored.
func (w *Workbench) show(ev agent.Event) {
	if w.cfg.Observe != nil {
		w.cfg.Observe(ev)
	}
	w.feed.Publish(ev)
	if w.cfg.Search != nil && ev.Durable() && !w.cfg.Unattended { // else the next search reads it
		w.cfg.Search.Changed()
	}
	w.observeRest(ev)
	w.observeCaller(ev)
}
