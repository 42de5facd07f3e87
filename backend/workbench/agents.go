package workbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/agentdef"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/catalogue"
	"atelier.dev/atelier/agent/subagent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/agents"
	"atelier.dev/atelier/backend/live"
	"atelier.dev/atelier/backend/place"
	"atelier.dev/atelier/internal/text"
)

// maxHelpers limits the agents of one session that work at a time (K-05).
const maxHelpers = 4

// helpers starts and drives the agents of one session. Agents are sessions:
// they share the parent's folder and settings, ask the same person, and are
// stored like it (LOOP-49, LOOP-146). It implements [subagent.Host].
type helpers struct {
	bench  *Workbench
	parent string
	// spawning is held while agents are counted and one is started, because
	// calls of an answer run in parallel.
	spawning sync.Mutex
	// begun are the times at which agents were started, the newest last.
	begun []time.Time
}

// A model that starts agents in a loop is stopped: maxBegun may be started in a time.
const (
	maxBegun  = 60
	begunTime = 10 * time.Minute
)

// count notes that an agent is started, or returns an error if there were too many lately. The
// lock is held.
func (h *helpers) count(now time.Time) error {
	h.begun = slices.DeleteFunc(h.begun, func(at time.Time) bool { return now.Sub(at) > begunTime })
	if len(h.begun) >= maxBegun {
		return fmt.Errorf("%d agents were started within ten minutes, which is the most; go on with those that are there, or without", len(h.begun))
	}
	h.begun = append(h.begun, now)
	return nil
}

// Spawn implements [subagent.Host].
func (h *helpers) Spawn(ctx context.Context, task subagent.Task) (subagent.Started, error) {
	w := h.bench
	if strings.TrimSpace(task.Text) == "" {
		return subagent.Started{}, errors.New("the task is empty")
	}
	def, err := w.agents.Find(ctx, task.Type)
	if err != nil {
		return subagent.Started{}, err
	}
	release, err := h.slot(ctx, task.Waits)
	if err != nil {
		return subagent.Started{}, err
	}
	defer release()
	if err := h.count(time.Now()); err != nil {
		return subagent.Started{}, err
	}
	id := newID()
	if err := h.create(ctx, id, def, task); err != nil {
		return subagent.Started{}, err
	}
	if ctx.Err() != nil { // the parent was interrupted before this agent was registered
		w.Interrupt(id)
	}
	return subagent.Started{ID: id, Background: def.Start.Background}, nil
}

// create makes an agent's session and starts it on its task.
func (h *helpers) create(ctx context.Context, id string, def agentdef.Definition, task subagent.Task) error {
	w := h.bench
	parent, err := w.cfg.Store.Session(ctx, h.parent)
	if err != nil {
		return err
	}
	if l := w.sessions.Find(h.parent); l != nil {
		parent.Settings = l.Latest() // which hold before they are in the log
	}
	if err := w.teams.NameIsFree(ctx, account(parent), task.Name); err != nil {
		return err
	}
	if err := w.teams.Join(ctx, account(parent), task.Team, task.Name); err != nil {
		return err
	}
	set, err := h.settings(ctx, parent.Settings, def, task)
	if err != nil {
		return err
	}
	input, err := withSkills(ctx, w, parent, task.Text, slices.Concat(def.Skills, task.Skills))
	if err != nil {
		return err
	}
	helper, err := h.place(ctx, parent, id, def, task)
	if err != nil {
		return err
	}
	helper.Skills = append(limiting(parent.Skills), limitOf(def, task.Servers)...)
	if err := h.admitTree(ctx, id, helper); err != nil {
		return err
	}
	info, err := w.create(ctx, id, set, helper)
	if err != nil {
		_, removing := h.removeTree(context.WithoutCancel(ctx), backend.SessionInfo{ID: id, Helper: helper})
		return errors.Join(err, removing)
	}
	if err := w.teams.Collect(ctx, account(parent), task.Name, info.ID); err != nil {
		return err
	}
	return w.start(ctx, info.ID, runInput(input))
}

// slot waits for a place among the agents that work at a time, or returns an error if there is
// none. The caller holds it until the agent works.
func (h *helpers) slot(ctx context.Context, wait bool) (release func(), err error) {
	for {
		h.spawning.Lock()
		busy := agentsAtWork(h.bench, h.parent)
		if len(busy) < maxHelpers {
			return h.spawning.Unlock, nil
		}
		h.spawning.Unlock()
		if !wait {
			return nil, fmt.Errorf("%d agents work already; wait for one of them first", len(busy))
		}
		if err := awaitAny(ctx, busy); err != nil {
			return nil, err
		}
	}
}

// awaitAny waits until one of several sessions is at rest.
func awaitAny(ctx context.Context, sessions []*live.Session) error {
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
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("the wait for a place was ended: %w", err)
	}
	return nil
}

// place returns what an agent is given, with the folder where it works.
func (h *helpers) place(ctx context.Context, parent backend.SessionInfo, id string, def agentdef.Definition, task subagent.Task) (*agent.Helper, error) {
	folder, err := workingDir(h.bench.folderOf(parent), task.WorkingDir)
	if err != nil {
		return nil, err
	}
	helper := &agent.Helper{
		Parent: h.parent, Folder: folder, Rounds: cmp.Or(max(0, task.MaxTurns), def.Rounds, subagent.DefaultMaxTurns),
		Task: text.Head(task.Text, taskLine), Call: task.Call, Label: text.Head(task.Label, taskLine), Type: def.Name, Name: task.Name,
		Defined: agent.Defined{Scope: def.Place.Scope, File: def.Place.File, Hooks: def.Hooks, Color: def.Start.Color},
	}
	isolation := task.Isolation
	if def.Start.Worktree {
		isolation = cmp.Or(isolation, subagent.Worktree)
	}
	switch isolation {
	case "":
		return helper, nil
	case subagent.Worktree:
		return helper, h.isolate(ctx, parent, id, helper)
	}
	return nil, fmt.Errorf("there is no isolation %q, only %q", isolation, subagent.Worktree)
}

// settings returns the parent's settings, including the shared budget, with the
// task's model: one of a level (COM-51), or another of the same provider, else that of the agent's
// definition. The user chose no other provider. The mode is never looser than the parent's
// (OAS-506). The agents of a caller begin with what the user chose for new sessions, but in the
// caller's mode.
func (h *helpers) settings(ctx context.Context, set agent.Settings, def agentdef.Definition, task subagent.Task) (agent.Settings, error) {
	mode := set.Mode
	if set.Provider == callerProvider {
		var err error
		if set, err = h.bench.NewSessionSettings(ctx); err != nil {
			return set, err
		}
	}
	set.Mode = agentdef.Tighter(agentdef.Tighter(cmp.Or(mode, agent.ModeDefault), def.Mode), task.Mode)
	set.Effort = cmp.Or(def.Effort, set.Effort)
	model := strings.TrimPrefix(strings.TrimSpace(task.Model), set.Provider+"/")
	level := catalogue.Level(model)
	if at, ok := h.bench.providers.Named(ctx, set, cmp.Or(model, def.Model)); ok && level != catalogue.LevelLow && level != catalogue.LevelMid && level != catalogue.LevelHigh {
		set.Provider, set.Model = at.Provider, at.Model
		return set, nil
	}
	switch level {
	case "":
	case catalogue.LevelLow, catalogue.LevelMid, catalogue.LevelHigh:
		at := h.bench.providers.AtLevel(ctx, set, level)
		set.Provider, set.Model = at.Provider, at.Model
	default:
		set.Model = model
	}
	return set, nil
}

// workingDir resolves a folder of the project, given as an absolute or relative
// path. A folder outside, even through a link, is refused.
func workingDir(project, dir string) (string, error) {
	abs := dir
	if !filepath.IsAbs(dir) {
		abs = filepath.Join(project, dir)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("there is no folder %s", dir)
	}
	if rel, err := filepath.Rel(project, real); err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s lies outside the project", dir)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s is not a folder", dir)
	}
	return real, nil
}

// limiting returns the skills that keep tools from being called. An agent keeps to
// them: it would otherwise do for a model what the skill refuses it.
func limiting(skills []agent.SkillUse) (out []agent.SkillUse) {
	for _, use := range skills {
		if use.Limits() {
			use.Provider, use.Model, use.Effort = "", "", ""
			out = append(out, use)
		}
	}
	return out
}

// own returns an agent of the parent by its id or its name, which stays in memory until release
// is called.
func (h *helpers) own(ctx context.Context, called string) (l *live.Session, release func(), err error) {
	info, err := h.bench.cfg.Store.Session(ctx, called)
	if err != nil {
		if info, err = h.named(ctx, called); err != nil {
			return nil, nil, err
		}
	}
	if info.Helper == nil || info.Helper.Parent != h.parent {
		return nil, nil, fmt.Errorf("there is no agent %q of yours", called)
	}
	if place.LostTree(info) {
		return nil, nil, fmt.Errorf("agent %q was ended and its worktree removed; start another one", called)
	}
	return h.bench.sessions.Open(ctx, info.ID)
}

// named returns the newest agent of a name.
func (h *helpers) named(ctx context.Context, name string) (backend.SessionInfo, error) {
	all, err := h.bench.cfg.Store.Helpers(ctx, h.parent)
	if err != nil {
		return backend.SessionInfo{}, err
	}
	for _, info := range slices.Backward(all) {
		if name != "" && info.Helper != nil && info.Helper.Name == name {
			return info, nil
		}
	}
	return backend.SessionInfo{}, fmt.Errorf("there is no agent %q of yours", name)
}

// Send implements [subagent.Host].
func (h *helpers) Send(ctx context.Context, called, message string) (string, error) {
	l, release, err := h.own(ctx, called)
	if err != nil {
		return "", err
	}
	defer release()
	id := l.ID()
	if err := h.keepsTo(ctx, id); err != nil {
		return id, err
	}
	if l.Busy() {
		return id, h.steer(ctx, id, message)
	}
	free, err := h.slot(ctx, false)
	if err != nil {
		return id, err
	}
	defer free()
	return id, h.bench.start(ctx, id, runInput(agent.Queued{Text: message, From: h.name(ctx)}))
}

// name is what the agents of the session call it.
func (h *helpers) name(ctx context.Context) string {
	info, _ := h.bench.cfg.Store.Session(ctx, h.parent) // an empty one is that of a user, too
	return agents.Writer(info)
}

// steer gives an agent that works a message. Nothing is attached to it: a model wrote it.
func (h *helpers) steer(ctx context.Context, id, message string) error {
	m := agent.Queued{ID: newID(), Verb: agent.Steer, Text: message, From: h.name(ctx)}
	_, err := h.bench.changeQueue(ctx, id, func(q *agent.Queue) error {
		if err := h.bench.cfg.Store.AddQueued(ctx, id, m); err != nil {
			return err
		}
		q.Add(m)
		return nil
	})
	return err
}

// keepsTo refuses more work for an agent that is not bound by a skill that limits
// its parent now.
func (h *helpers) keepsTo(ctx context.Context, id string) error {
	parent, err := h.bench.cfg.Store.Session(ctx, h.parent)
	if err != nil {
		return err
	}
	child, err := h.bench.cfg.Store.Session(ctx, id)
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
func (h *helpers) Wait(ctx context.Context, id string) (subagent.Report, error) {
	l, release, err := h.own(ctx, id)
	if err != nil {
		return subagent.Report{}, err
	}
	defer release()
	if l.Busy() {
		h.bench.teams.Await(l.ID())
	}
	if err := l.Wait(ctx); err != nil {
		return subagent.Report{}, fmt.Errorf("the wait was ended: %w", err)
	}
	report, err := h.report(ctx, l.ID())
	report.Worktree = h.worktree(ctx, l.ID())
	return report, err
}

// End implements [subagent.Host].
func (h *helpers) End(ctx context.Context, called string) (subagent.Report, error) {
	l, release, err := h.own(ctx, called)
	if err != nil {
		return subagent.Report{}, err
	}
	defer release()
	id := l.ID()
	h.bench.Interrupt(id)
	report, err := h.Wait(ctx, id)
	if err == nil && report.Worktree != "" {
		report.Worktree = h.endTree(ctx, id)
	}
	return report, err
}

// report reads an agent's progress from the end of its log.
func (h *helpers) report(ctx context.Context, id string) (subagent.Report, error) {
	events, err := h.bench.cfg.Store.Events(ctx, backend.EventRange{Session: id, Limit: reportedEvents, Newest: true})
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

// agentsAtWork returns the agents of a session that work in this process.
func agentsAtWork(w *Workbench, parent string) (busy []*live.Session) {
	for _, l := range w.sessions.StartedBy(parent) {
		if l.Busy() {
			busy = append(busy, l)
		}
	}
	return busy
}

// othersCost returns what a session and the agents that it started have spent
// so far, except for the spending of one of them.
func (w *Workbench) othersCost(parent, but string) llm.Cost {
	account, err := w.cfg.Store.Helpers(w.ctx, parent)
	if err == nil && parent != but {
		var info backend.SessionInfo
		info, err = w.cfg.Store.Session(w.ctx, parent)
		account = append(account, info)
	}
	if err != nil {
		slog.Warn("could not add up the cost of agents", "session", parent, "err", err)
	}
	var sum llm.Cost
	for _, info := range account {
		if info.ID != but {
			sum += info.Cost.Cost
		}
	}
	return sum
}
