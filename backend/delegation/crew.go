package delegation

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/agentdef"
	"atelier.dev/atelier/agent/subagent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/agents"
	"atelier.dev/atelier/backend/live"
	"atelier.dev/atelier/backend/place"
)

// Crew starts and drives the agents of one session. Agents are sessions: they share the folder and
// the settings of the one that started them, ask the same person, and are stored like it (LOOP-49,
// LOOP-146). It implements [subagent.Host].
type Crew struct {
	d          *Delegation
	self, root string
	depth      int
	tree       *tree
}

// Spawn implements [subagent.Host].
func (c *Crew) Spawn(ctx context.Context, task subagent.Task) (subagent.Started, error) {
	if strings.TrimSpace(task.Text) == "" {
		return subagent.Started{}, errors.New("the task is empty")
	}
	if most := c.d.cfg.Caps(ctx).Depth; c.depth >= most {
		return subagent.Started{}, fmt.Errorf("agents may be %d deep, and you are at the end of that: do it yourself", most)
	}
	def, err := c.d.cfg.Agents.Find(ctx, task.Type)
	if err != nil {
		return subagent.Started{}, err
	}
	id := c.d.cfg.Host.NewID()
	waits := task.Waits && !def.Start.Background
	if waits && c.self != c.root { // so that the agents of a full tree do not wait for each other
		c.tree.lend(c.self, id)
		c.tree.setStarter(id, c.self)
	}
	err = c.spawn(ctx, id, def, task, task.Waits && (waits || c.self == c.root))
	if err != nil {
		if waits && c.self != c.root {
			c.rejoin(ctx, id)
		}
		return subagent.Started{}, err
	}
	if ctx.Err() != nil { // the caller was interrupted before this agent was registered
		c.d.Interrupt(id)
	}
	return subagent.Started{ID: id, Background: def.Start.Background}, nil
}

// spawn starts an agent when there is a place for it.
func (c *Crew) spawn(ctx context.Context, id string, def agentdef.Definition, task subagent.Task, wait bool) error {
	release, err := c.place(ctx, id, wait)
	if err != nil {
		return err
	}
	defer release()
	if err := c.tree.count(time.Now()); err != nil {
		return err
	}
	return c.create(ctx, id, def, task)
}

// place waits for a place of a session among the agents that work at a time, or returns an error
// if there is none. The caller holds it until the agent works.
func (c *Crew) place(ctx context.Context, session string, wait bool) (release func(), err error) {
	for {
		busy, changed := c.tree.take(session, c.working())
		if changed == nil {
			return func() { c.tree.give(session) }, nil
		}
		if !wait {
			return nil, fmt.Errorf("%d agents work already; wait for one of them first", AtOnce)
		}
		if err := awaitAny(ctx, busy, changed); err != nil {
			return nil, err
		}
	}
}

// working returns the agents of the tree that work in this process.
func (c *Crew) working() (busy []*live.Session) {
	for _, l := range c.d.cfg.Sessions().StartedBy(c.root) {
		if l.Busy() {
			busy = append(busy, l)
		}
	}
	return busy
}

// awaitAny waits until one of several sessions is at rest, or changed is closed.
func awaitAny(ctx context.Context, sessions []*live.Session, changed <-chan struct{}) error {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	for _, l := range sessions {
		all.Go(func() {
			if l.Wait(waiting) == nil {
				cancel()
			}
		})
	}
	all.Go(func() {
		select {
		case <-changed:
			cancel()
		case <-waiting.Done():
		}
	})
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("the wait for a place was ended: %w", err)
	}
	return nil
}

// own returns an agent of the parent by its id or its name, which stays in memory until release
// is called.
func (c *Crew) own(ctx context.Context, called string) (l *live.Session, release func(), err error) {
	info, err := c.d.cfg.Store.Session(ctx, called)
	if err != nil {
		if info, err = c.named(ctx, called); err != nil {
			return nil, nil, err
		}
	}
	if !c.owns(info) {
		return nil, nil, fmt.Errorf("there is no agent %q of yours", called)
	}
	if place.LostTree(info) {
		return nil, nil, fmt.Errorf("agent %q was ended and its worktree removed; start another one", called)
	}
	return c.d.cfg.Sessions().Open(ctx, info.ID)
}

// owns reports whether a session is an agent of the crew's. The session at the top of a tree
// reaches all of it.
func (c *Crew) owns(info backend.SessionInfo) bool {
	return info.Helper != nil && info.Helper.Parent == c.root && (c.self == c.root || info.Helper.By == c.self)
}

// named returns the newest agent of a name.
func (c *Crew) named(ctx context.Context, name string) (backend.SessionInfo, error) {
	all, err := c.d.cfg.Store.Helpers(ctx, c.root)
	if err != nil {
		return backend.SessionInfo{}, err
	}
	for _, info := range slices.Backward(all) {
		if name != "" && c.owns(info) && info.Helper.Name == name {
			return info, nil
		}
	}
	return backend.SessionInfo{}, fmt.Errorf("there is no agent %q of yours", name)
}

// Send implements [subagent.Host].
func (c *Crew) Send(ctx context.Context, called, message string) (string, error) {
	l, release, err := c.own(ctx, called)
	if err != nil {
		return "", err
	}
	defer release()
	id := l.ID()
	if err := c.keepsTo(ctx, id); err != nil {
		return id, err
	}
	if l.Busy() {
		return id, c.steer(ctx, id, message)
	}
	free, err := c.place(ctx, id, false)
	if err != nil {
		return id, err
	}
	defer free()
	return id, c.d.cfg.Host.Start(ctx, id, live.Input(agent.Queued{Text: message, From: c.name(ctx)}))
}

// name is what the agents of the session call it.
func (c *Crew) name(ctx context.Context) string {
	info, _ := c.d.cfg.Store.Session(ctx, c.self) // an empty one is that of a user, too
	return agents.Writer(info)
}

// steer gives an agent that works a message. Nothing is attached to it: a model wrote it.
func (c *Crew) steer(ctx context.Context, id, message string) error {
	m := agent.Queued{ID: c.d.cfg.Host.NewID(), Verb: agent.Steer, Text: message, From: c.name(ctx)}
	return c.d.cfg.Host.ChangeQueue(ctx, id, func(q *agent.Queue) error {
		if err := c.d.cfg.Store.AddQueued(ctx, id, m); err != nil {
			return err
		}
		q.Add(m)
		return nil
	})
}

// keepsTo refuses more work for an agent that is not bound by a skill that limits
// its parent now.
func (c *Crew) keepsTo(ctx context.Context, id string) error {
	parent, err := c.d.cfg.Store.Session(ctx, c.self)
	if err != nil {
		return err
	}
	child, err := c.d.cfg.Store.Session(ctx, id)
	if err != nil {
		return err
	}
	for _, use := range limiting(parent.Skills) {
		if !slices.ContainsFunc(child.Helper.Skills, func(o agent.SkillUse) bool { return reflect.DeepEqual(o, use) }) {
			return fmt.Errorf("agent %q was started before the skill %s was in use, which limits what it may do; start another one", id, use.Name)
		}
	}
	return nil
}

// Wait implements [subagent.Host].
func (c *Crew) Wait(ctx context.Context, id string) (subagent.Report, error) {
	l, release, err := c.own(ctx, id)
	if err != nil {
		return subagent.Report{}, err
	}
	defer release()
	if l.Busy() {
		c.d.cfg.Teams.Await(l.ID())
	}
	if err := c.await(ctx, l); err != nil {
		return subagent.Report{}, fmt.Errorf("the wait was ended: %w", err)
	}
	report, err := c.d.Report(ctx, l.ID())
	report.Worktree = c.worktree(ctx, l.ID())
	return report, err
}

// await waits until an agent is at rest. If an agent waits for it, it gives its place to others
// meanwhile.
func (c *Crew) await(ctx context.Context, l *live.Session) error {
	if c.self == c.root {
		return l.Wait(ctx)
	}
	c.tree.lend(c.self, l.ID())
	err := l.Wait(ctx)
	c.rejoin(ctx, l.ID())
	return err
}

// rejoin has an agent that waited for another one work again, once there is a place for it.
func (c *Crew) rejoin(ctx context.Context, waitedFor string) {
	if !c.tree.back(c.self, waitedFor) {
		return
	}
	if release, err := c.place(ctx, c.self, true); err == nil {
		defer release()
	} // otherwise it ends
	c.tree.ready(c.self)
}

// End implements [subagent.Host].
func (c *Crew) End(ctx context.Context, called string) (subagent.Report, error) {
	l, release, err := c.own(ctx, called)
	if err != nil {
		return subagent.Report{}, err
	}
	defer release()
	id := l.ID()
	c.d.Interrupt(id)
	report, err := c.Wait(ctx, id)
	if err == nil && report.Worktree != "" {
		report.Worktree = c.endTree(ctx, id)
	}
	return report, err
}

// Report reads an agent's progress from the end of its log.
func (d *Delegation) Report(ctx context.Context, id string) (subagent.Report, error) {
	events, err := d.cfg.Store.Events(ctx, backend.EventRange{Session: id, Limit: reportedEvents, Newest: true})
	if err != nil {
		return subagent.Report{}, err
	}
	r := subagent.Report{Status: subagent.Running}
	for _, ev := range slices.Backward(events) {
		switch d := ev.Data.(type) {
		case agent.ProcessingEnd:
			if r.Status == subagent.Running {
				r.Status, r.Turns = subagent.Failed, d.Rounds
				if d.Reason == agent.EndDone {
					r.Status = subagent.Completed
				}
			}
		case agent.Failure:
			if r.Output == "" {
				r.Output = d.Message
			}
		case agent.TextEnd:
			if text := d.Message.Text(); text != "" {
				r.Output = text
				return r, nil
			}
		case agent.UserInput:
			return r, nil
		}
	}
	return r, nil
}

// reportedEvents is how many events are searched for an agent's last text.
const reportedEvents = 100
