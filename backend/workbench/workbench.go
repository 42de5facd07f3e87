package workbench

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/fetch"
	"atelier.dev/atelier/agent/journal"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/lsp"
	client "atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/agent/permission"
	"atelier.dev/atelier/agent/permission/rule"
	"atelier.dev/atelier/agent/profile"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/absence"
	"atelier.dev/atelier/backend/agents"
	"atelier.dev/atelier/backend/attach"
	"atelier.dev/atelier/backend/branch"
	"atelier.dev/atelier/backend/confinement"
	"atelier.dev/atelier/backend/contexts"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/delegation"
	"atelier.dev/atelier/backend/desk"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/backend/editors"
	"atelier.dev/atelier/backend/feed"
	"atelier.dev/atelier/backend/filechanges"
	"atelier.dev/atelier/backend/guard"
	"atelier.dev/atelier/backend/hooks"
	"atelier.dev/atelier/backend/hosts"
	"atelier.dev/atelier/backend/languages"
	"atelier.dev/atelier/backend/live"
	"atelier.dev/atelier/backend/mcp"
	"atelier.dev/atelier/backend/models"
	"atelier.dev/atelier/backend/moved"
	"atelier.dev/atelier/backend/overlap"
	"atelier.dev/atelier/backend/place"
	"atelier.dev/atelier/backend/projects"
	"atelier.dev/atelier/backend/reading"
	"atelier.dev/atelier/backend/review"
	"atelier.dev/atelier/backend/schedules"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/share"
	"atelier.dev/atelier/backend/skills"
	"atelier.dev/atelier/backend/tasklist"
	"atelier.dev/atelier/backend/telemetry"
	"atelier.dev/atelier/backend/toolbox"
	"atelier.dev/atelier/backend/transfer"
	"atelier.dev/atelier/backend/trees"
	"atelier.dev/atelier/backend/trust"
	"atelier.dev/atelier/backend/undoing"
	"atelier.dev/atelier/backend/websearch"
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
	// Answered says that a program answers although nobody is there.
	Answered bool
	// ReadOnly keeps sessions from changing anything: files are not written,
	// and commands run only if they can be confined.
	ReadOnly bool
	// Rules hold for every session, in addition to its permission mode, and so do
	// RunRules, which name some calls of a tool.
	Rules    permission.Rules
	RunRules []rule.Rule
	Limits   agent.Limits
	// Agents are definitions of agents for this run, which are stronger than those of
	// files.
	Agents []agents.Definition
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
	cfg          Config
	calls        *dispatch.Dispatcher
	feed         *feed.Feed
	providers    *models.Providers
	sessions     *live.Sessions
	places       places
	project      *place.Project
	undo         *undoing.Undo
	conversation *conversation.Conversations
	absence      *absence.Watch
	changes      *filechanges.Changes
	branches     *branch.Branches
	overlap      *overlap.Tracker
	projects     *projects.Projects
	reader       *reading.Reader
	list         *sessionlist.List
	guard        *guard.Guard
	setUp        atomic.Bool // the hooks of the folder's setup have run
	hooks        *hooks.Hooks
	servers      *mcp.Servers
	languages    *lsp.Servers
	// languageFiles has the language servers that the project names.
	languageFiles *languages.Files
	skills        *skills.Skills
	agents        *agents.Agents
	boards        *agents.Boards
	trees         *trees.Trees
	schedules     *schedules.Schedules
	attachments   *attach.Folder
	scheduling    sync.WaitGroup
	teams         *agents.Teams
	delegation    *delegation.Delegation
	asking        *asking
	callers       callers
	trust         *trust.Trust
	review        *review.Reviewer
	choices       choices
	confinement   *confinement.Confinement
	journal       *journal.Journal
	exports       *transfer.Exports
	shares        *share.Shares
	telemetry     *telemetry.Telemetry
	imports       *transfer.Imports
	pages         *fetch.Pages
	searches      *websearch.Chooser
	contexts      *contexts.Contexts

	ctx     context.Context // ends when the workbench closes
	cancel  context.CancelFunc
	moved   *moved.Sessions
	editors *editors.Editors
	desk    *desk.Desk // what the user has at hand
}

// New returns a workbench. Close stops everything that runs in it.
func New(cfg Config) *Workbench {
	if cfg.Prepared == nil {
		cfg.Prepared = &Prepared{catalogue: models.Catalogue(cfg.Home)}
	}
	ctx, cancel := context.WithCancel(context.Background())
	project := &place.Project{Dir: cfg.Folder, Store: cfg.Store}
	w := &Workbench{
		project: project,
		cfg:     cfg, feed: feed.New(), ctx: ctx, cancel: cancel, places: places{bySession: map[string]workplace{}},
		providers: models.New(models.Config{Keys: cfg.Keys, Settings: cfg.Store, Getenv: cfg.Getenv, Home: cfg.Home, Catalogue: cfg.Prepared.catalogue, Folder: project.FolderOf, Version: cfg.Version}),
		choices:   choices{changing: make(chan struct{}, 1)},
		guard:     guard.New(guard.Config{Folder: cfg.Folder, User: userHome(cfg), Store: cfg.Store, Rules: cfg.RunRules}),
		pages:     fetch.NewPages(time.Now),
		searches:  websearch.New(websearch.Config{Keys: cfg.Keys, Settings: cfg.Store, Getenv: cfg.Getenv}),
	}
	w.journal = journal.Open(cfg.Home)
	w.attachments = attach.New(cfg.Home, cfg.Folder, nil)
	w.confinement = confinement.New(w.ctx, confinement.Config{
		Home: cfg.Home, User: userHome(cfg), Store: cfg.Store, Guard: w.guard, Getenv: cfg.Getenv, Output: w.outputFolder, Attached: w.attachments.Dir(),
	})
	w.sessions = live.New(live.Config{
		Log: cfg.Store, Check: w.mayRun, Build: w.newSession, Start: w.sessionStart, Show: w.show,
		CleanUp: w.cleanUp, Occupied: w.occupied, SideJobs: w.sideJobs,
	})
	w.undo = undoing.New(undoing.Config{
		Project: w.project, Store: cfg.Store, Sessions: w.sessions, Journal: w.journal, Home: cfg.Home, ReadOnly: cfg.ReadOnly,
	})
	w.overlap = overlap.New(overlap.Config{Busy: w.busy, Folder: w.folderOf})
	w.telemetry = telemetry.New(telemetry.Config{Project: w.project, Store: cfg.Store, Getenv: cfg.Getenv, Version: cfg.Version})
	w.reader = reading.New(w.project, cfg.Store)
	w.conversation = conversation.New(conversation.Config{
		Store: cfg.Store, Project: w.project, Sessions: w.sessions, Undo: w.undo, Reader: w.reader, Feed: w.feed, Host: w.conversationHost(),
	})
	w.absence = absence.New(cfg.Folder, cfg.Store, w.auditor)
	w.trust = trust.New(trust.Config{Folder: cfg.Folder, User: userHome(cfg), Store: cfg.Store})
	w.asking = &asking{bench: w, calls: map[client.Caller]func(agent.SideRequest) bool{}}
	w.servers = w.newServers()
	w.languageFiles = languages.New(languages.Config{Folder: cfg.Folder, Trust: w.trust})
	w.languages = w.newLanguageServers()
	w.skills = w.newSkills()
	w.agents = newAgents(w)
	w.boards, w.teams = agents.NewBoards(cfg.Store), newTeams(w)
	w.trees = newTrees(w)
	w.delegation = newDelegation(w)
	w.contexts = newContexts(w)
	w.hooks = w.newHooks()
	w.moved = moved.New(cfg.Store, cfg.Folder)
	w.editors = editors.New(editors.Config{Folder: cfg.Folder, Store: cfg.Store, Getenv: cfg.Getenv, Worktree: w.project.WorktreeOf, IsSettings: w.hooks.Reads})
	w.desk = desk.New(desk.Config{
		Folder: cfg.Folder, Home: cfg.Home, Store: cfg.Store, Search: cfg.Search, Getenv: cfg.Getenv, FolderOf: w.project.FolderOf, ReadOnly: cfg.ReadOnly,
		Servers: func() *lsp.Servers { return w.languages },
	})
	w.exports = transfer.NewExports(transfer.ExportConfig{
		Store: cfg.Store, Session: w.session, Keys: w.providers.Keys, User: userHome(cfg), Dir: filepath.Join(cfg.Home, "exports"), PickSave: cfg.PickSave,
	})
	w.shares = share.New(share.Config{Log: cfg.Store, Settings: cfg.Store, Session: w.session, Keys: w.providers.Keys, User: userHome(cfg)})
	w.imports = transfer.NewImports(transfer.ImportConfig{
		Store: cfg.Store, Folder: cfg.Folder, User: userHome(cfg), Getenv: cfg.Getenv,
		Settings: w.NewSessionSettings, Start: func() agent.SessionStart { return w.sessionStart(false) }, Show: w.show, Price: w.providers.Price,
	})
	w.review = review.New(w.trust, w.hooks, w.servers, w.skills, w.agents, w.languageFiles)
	w.schedules = newSchedules(w)
	w.changes = filechanges.New(filechanges.Config{
		Project: w.project, Store: cfg.Store, Journal: w.journal, Undo: w.undo, Publish: w.publishIn, ReadOnly: cfg.ReadOnly,
	})
	w.branches = newBranches(w)
	w.projects = projects.New(projects.Config{
		Folder: cfg.Folder, Home: cfg.Home, Version: cfg.Version, Store: cfg.Store, Getenv: cfg.Getenv, Open: cfg.OpenProject,
		Interrupt: w.Interrupt, Unattended: cfg.Unattended,
	})
	w.list = sessionlist.New(sessionlist.Config{
		Project: w.project, Store: cfg.Store, Sessions: w.sessions, Trees: w.trees, Search: cfg.Search, Publish: w.publish, Forget: w.forget,
	})
	w.calls = w.dispatcher()
	return w
}

// dispatcher registers every method that a front end can call.
func (w *Workbench) dispatcher() *dispatch.Dispatcher {
	d := &dispatch.Dispatcher{}
	w.projects.Register(d)
	w.list.Register(d)
	w.trees.Register(d)
	w.schedules.Register(d)
	w.attachments.Register(d)
	w.reader.Register(d)
	w.telemetry.Register(d)
	dispatch.Handle(d, "sessions.create", w.createSession)
	dispatch.Handle(d, "sessions.fork", w.ForkSession)
	w.exports.Register(d)
	w.shares.Register(d)
	w.imports.Register(d)
	w.conversation.Register(d)
	w.absence.Register(d)
	tasklist.New(w.tasks).Register(d)
	dispatch.Handle(d, "conversation.command", w.runCommand)
	dispatch.Handle(d, "conversation.compact", w.compact)
	dispatch.Handle(d, "conversation.answer", w.answer)
	dispatch.Handle(d, "approvals.list", w.approvals)
	w.confinement.Register(d)
	dispatch.Handle(d, "permissions.ledger", w.ledger)
	dispatch.Handle(d, "permissions.suggest_for_call", w.suggestForCall)
	w.contexts.Register(d)
	w.changes.Register(d)
	w.undo.Register(d)
	w.branches.Register(d)
	dispatch.Handle(d, "changes.propose_message", w.proposeMessage)
	w.editors.Register(d)
	w.providers.Register(d)
	w.storeMethods(d)
	dispatch.Handle(d, "permissions.rules", w.listRules)
	dispatch.Handle(d, "permissions.add", w.addRule)
	dispatch.Handle(d, "permissions.remove", w.removeRule)
	dispatch.Handle(d, "permissions.accept", w.acceptRules)
	dispatch.Handle(d, "permissions.try", w.tryRule)
	dispatch.Handle(d, "permissions.suggest", w.suggestRules)
	w.hooks.Register(d)
	w.searches.Register(d)
	toolbox.Register(d)
	hosts.Register(d, w.cfg.Home)
	w.teams.Register(d)
	w.desk.Register(d)
	w.agents.Register(d)
	w.delegation.Register(d)
	newAsides(w).Register(d)
	dispatch.Handle(d, "hooks.dry_run", w.dryRun)
	w.review.Register(d)
	w.servers.Register(d)
	dispatch.Handle(d, "mcp.list", w.listServers)
	w.skills.Register(d)
	dispatch.Handle(d, "commands.list", w.commands)
	dispatch.Handle(d, "preferences.get", w.preferences)
	dispatch.Handle(d, "preferences.change", w.changePreferences)
	dispatch.Handle(d, "host.open_link", w.openLink)
	dispatch.Handle(d, "host.notify", w.notify)
	dispatch.Handle(d, "host.zoom", w.zoom)
	dispatch.Handle(d, "host.pick_folder", w.pickFolder)
	return d
}

// storeMethods registers the methods of the database's state, and of folders that
// were moved.
func (w *Workbench) storeMethods(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "store.health", w.storeHealth)
	dispatch.Handle(d, "store.accept", w.acceptLoss)
	w.moved.Register(d)
}

// Call runs a method by name; see [dispatch.Dispatcher.Call].
func (w *Workbench) Call(ctx context.Context, method, args string) string {
	return w.calls.Call(ctx, method, args)
}

// List returns the list of sessions.
func (w *Workbench) List() *sessionlist.List { return w.list }

// Exports returns what lets sessions leave as files.
func (w *Workbench) Exports() *transfer.Exports { return w.exports }

// Imports returns what makes sessions of transcripts.
func (w *Workbench) Imports() *transfer.Imports { return w.imports }

// Subscribe passes every [feed.Envelope], as JSON, to watch until cancel is called.
// watch must not block.
func (w *Workbench) Subscribe(watch func(envelope []byte)) (cancel func()) {
	return w.feed.Subscribe(watch)
}

// Close stops everything that runs. Turns that wait for a person stay open and
// resume when the session is opened again; all others are interrupted and
// recorded as such. It does not close the store.
func (w *Workbench) Close(ctx context.Context) error {
	err := errors.Join(w.sessions.Close(ctx), w.absence.Close(ctx), w.servers.Close(ctx))
	// Each of these ends a watch over files. Linux takes 8 to 16 ms for one, and no longer for all at once.
	var hooksErr, skillsErr error
	var ends sync.WaitGroup
	ends.Go(func() { hooksErr = w.hooks.Close(ctx) })
	ends.Go(w.languages.Close)
	ends.Go(func() { skillsErr = w.skills.Close(ctx) })
	ends.Go(func() { w.agents.Close(); w.teams.Close() })
	ends.Go(func() {
		w.cancel()
		w.scheduling.Wait()
		w.cfg.Prepared.Wait()
		w.confinement.Wait()
		w.journal.Close()
	})
	ends.Go(func() { w.shares.Close(); w.desk.Close(); w.telemetry.Close(); w.providers.External.Close() })
	ends.Wait()
	return errors.Join(err, hooksErr, skillsErr, w.exports.Close())
}

// session returns a session of this folder.
func (w *Workbench) session(ctx context.Context, id string) (backend.SessionInfo, error) {
	return w.project.Session(ctx, id)
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
	w.shares.Observe(ev)
	w.telemetry.Observe(ev)
	if w.cfg.Search != nil && ev.Durable() && !w.cfg.Unattended { // else the next search reads it
		w.cfg.Search.Changed()
	}
	w.overlap.Observe(ev)
	w.delegation.Observe(ev)
	w.observeRest(ev)
	w.observeCaller(ev)
}
