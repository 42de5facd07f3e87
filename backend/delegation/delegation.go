package delegation

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/agentdef"
	"atelier.dev/atelier/agent/llm/catalogue"
	"atelier.dev/atelier/agent/subagent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/agents"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/backend/live"
	"atelier.dev/atelier/backend/place"
	"atelier.dev/atelier/backend/trees"
)

// Config is what delegation works with. All fields are required.
type Config struct {
	Store    backend.Store
	Sessions func() *live.Sessions
	Agents   *agents.Agents
	Teams    *agents.Teams
	Trees    *trees.Trees
	Project  *place.Project
	Models   Models
	Host     Host
	// Caller is the provider of a program that calls tools itself. Its agents begin with what the
	// user chose for new sessions.
	Caller string
	// ReadOnly says that nothing may be changed, so that there are no worktrees.
	ReadOnly bool
	// Caps returns the limits of a tree that the user has set.
	Caps func(context.Context) Caps
}

// Models resolves names and levels of models.
type Models interface {
	Named(ctx context.Context, set agent.Settings, name string) (agent.Settings, bool)
	AtLevel(ctx context.Context, set agent.Settings, level catalogue.Level) agent.Settings
}

// Host makes sessions, starts their turns and changes their queues.
type Host struct {
	Create func(ctx context.Context, id string, set agent.Settings, helper *agent.Helper) (backend.SessionInfo, error)
	Start  func(ctx context.Context, id string, turn live.Turn) error
	// Skills returns a task with the texts of skills.
	Skills      func(ctx context.Context, parent backend.SessionInfo, task string, names []string) (agent.Queued, error)
	NewSettings func(context.Context) (agent.Settings, error)
	Configure   func(ctx context.Context, session string, set agent.Settings) error
	ChangeQueue func(ctx context.Context, session string, change func(*agent.Queue) error) error
	NewID       func() string
}

// Delegation drives the agents of all sessions of a project. It is safe for concurrent use.
type Delegation struct {
	cfg   Config
	mu    sync.Mutex
	trees map[string]*tree // by root
}

// New returns the agents of a project's sessions.
func New(cfg Config) *Delegation { return &Delegation{cfg: cfg, trees: map[string]*tree{}} }

// Register registers the method that shows the limits of a tree.
func (d *Delegation) Register(calls *dispatch.Dispatcher) {
	dispatch.Handle(calls, "agents.tree", func(ctx context.Context, in place.SessionRef) (Tree, error) {
		info, err := d.cfg.Project.Session(ctx, in.Session)
		if err == nil && info.Helper != nil {
			info, err = d.cfg.Project.Session(ctx, info.Helper.Parent)
		}
		if err != nil {
			return Tree{}, err
		}
		return d.Tree(ctx, info), nil
	})
}

// Of returns what starts and drives the agents of a session.
func (d *Delegation) Of(info backend.SessionInfo) *Crew {
	return &Crew{d: d, self: info.ID, root: agents.Root(info), depth: depthOf(info), tree: d.treeOf(agents.Root(info))}
}

// depthOf returns how many levels of agents are above a session; 0 for one of the user.
func depthOf(info backend.SessionInfo) int {
	if info.Helper == nil {
		return 0
	}
	return max(1, info.Helper.Depth)
}

func (d *Delegation) treeOf(root string) *tree {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.trees[root]
	if t == nil {
		t = newTree()
		d.trees[root] = t
	}
	return t
}

// Forget drops what is known of the trees of sessions that were removed.
func (d *Delegation) Forget(ids ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range ids {
		delete(d.trees, id)
	}
}

// Interrupt ends the turn of a session, if one runs here or has been requested, and those of all
// agents below it. It does not wait for I/O.
func (d *Delegation) Interrupt(session string) {
	if l := d.cfg.Sessions().Find(session); l != nil {
		l.Interrupt()
	}
	for _, l := range d.below(session) {
		l.Interrupt()
	}
}

// below returns the agents in memory that a session started, and those that they started.
func (d *Delegation) below(session string) (found []*live.Session) {
	sessions := d.cfg.Sessions()
	if all := sessions.StartedBy(session); len(all) > 0 { // it is a root
		return all
	}
	l := sessions.Find(session)
	if l == nil || l.Parent() == "" {
		return nil
	}
	all := sessions.StartedBy(l.Parent())
	above := map[string]bool{session: true}
	for range maxDepth {
		for _, l := range all {
			if by := d.treeOf(l.Parent()).starter(l.ID()); above[by] && !above[l.ID()] {
				above[l.ID()] = true
				found = append(found, l)
			}
		}
	}
	return found
}

// Tighten gives the agents of a session its mode, if theirs is looser (OAS-506).
func (d *Delegation) Tighten(ctx context.Context, session string, mode agent.Mode) error {
	helpers, err := d.cfg.Store.Helpers(ctx, session)
	if err != nil {
		return err
	}
	for _, info := range helpers {
		set := info.Settings
		if l := d.cfg.Sessions().Find(info.ID); l != nil {
			set = l.Latest()
		}
		if tighter := agentdef.Tighter(set.Mode, mode); tighter != set.Mode {
			set.Mode = tighter
			if failed := d.cfg.Host.Configure(ctx, info.ID, set); failed != nil {
				slog.Warn("could not tighten the mode of an agent", "agent", info.ID, "err", failed)
				err = failed
			}
		}
	}
	return err
}

// Wake starts an agent at rest with a turn, if there is a place for it.
func (d *Delegation) Wake(ctx context.Context, info backend.SessionInfo, start func(context.Context) error) error {
	c := d.Of(info)
	release, err := c.place(ctx, info.ID, false)
	if err != nil {
		return err
	}
	defer release()
	return start(ctx)
}

// Observe takes note of what happens in a tree. Hosts call it with each event, after it was
// stored, from the goroutine of its session.
func (d *Delegation) Observe(ev agent.Event) {
	l := d.cfg.Sessions().Find(ev.Session)
	if l == nil {
		return
	}
	root := l.Parent()
	if root == "" {
		root = ev.Session
	}
	d.mu.Lock()
	t := d.trees[root]
	d.mu.Unlock()
	if t != nil {
		t.observe(ev, root, time.Now())
	}
}

// Tools returns the tools with which a session starts and drives agents; none for an agent that
// may start none (LOOP-148).
func (d *Delegation) Tools(ctx context.Context, info backend.SessionInfo) []agent.Tool {
	list := agentdef.List(agentdef.BuiltIn())
	switch {
	case info.Helper != nil && depthOf(info) >= d.cfg.Caps(ctx).Depth:
		return nil
	case info.Helper == nil && info.Settings.Provider == d.cfg.Caller:
		return []agent.Tool{subagent.RunTool(d.Of(info), list)}
	}
	return subagent.Tools(d.Of(info), list)
}
