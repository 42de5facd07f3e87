package workbench

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/catalogue"
	"atelier.dev/atelier/agent/subagent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/internal/text"
	"atelier.dev/atelier/backend/live"
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
}

// Spawn implements [subagent.Host].
func (h *helpers) Spawn(ctx context.Context, task subagent.Task) (string, error) {
	if strings.TrimSpace(task.Text) == "" {
		return "", errors.New("the task is empty")
	}
	w := h.bench
	h.spawning.Lock()
	defer h.spawning.Unlock()
	parent, err := w.cfg.Store.Session(ctx, h.parent)
	if err != nil {
		return "", err
	}
	if n := w.agentsAtWork(h.parent); n >= maxHelpers {
		return "", fmt.Errorf("%d agents work already; wait for one of them first", n)
	}
	id := newID()
	set, err := h.settings(ctx, parent.Settings, task.Model)
	if err != nil {
		return "", err
	}
	helper, err := h.place(ctx, parent, id, task)
	if err != nil {
		return "", err
	}
	helper.Skills = limiting(parent.Skills)
	if err := h.admitTree(ctx, id, helper); err != nil {
		return "", err
	}
	info, err := w.create(ctx, id, set, helper)
	if err != nil {
		_, removing := h.removeTree(context.WithoutCancel(ctx), backend.SessionInfo{ID: id, Helper: helper})
		return "", errors.Join(err, removing)
	}
	if err := h.run(ctx, info.ID, task.Text); err != nil {
		return "", err
	}
	if ctx.Err() != nil { // the parent was interrupted before this agent was registered
		w.Interrupt(info.ID)
	}
	return info.ID, nil
}

// place returns what an agent is given, with the folder where it works.
func (h *helpers) place(ctx context.Context, parent backend.SessionInfo, id string, task subagent.Task) (*agent.Helper, error) {
	folder, err := workingDir(h.bench.folderOf(parent), task.WorkingDir)
	if err != nil {
		return nil, err
	}
	helper := &agent.Helper{Parent: h.parent, Folder: folder, Rounds: task.MaxTurns, Task: text.Head(task.Text, taskLine)}
	if helper.Rounds <= 0 {
		helper.Rounds = subagent.DefaultMaxTurns
	}
	switch task.Isolation {
	case "":
		return helper, nil
	case subagent.Worktree:
		return helper, h.isolate(ctx, parent, id, helper)
	}
	return nil, fmt.Errorf("there is no isolation %q, only %q", task.Isolation, subagent.Worktree)
}

// settings returns the parent's settings, including the shared budget, with the
// task's model: one of a level (COM-51), or another of the same provider. The
// user chose no other provider. The agents of a caller begin with what the user
// chose for new sessions, but in the caller's mode.
func (h *helpers) settings(ctx context.Context, set agent.Settings, model string) (agent.Settings, error) {
	if set.Provider == callerProvider {
		mode := set.Mode
		var err error
		if set, err = h.bench.NewSessionSettings(ctx); err != nil {
			return set, err
		}
		set.Mode = mode
	}
	model = strings.TrimPrefix(strings.TrimSpace(model), set.Provider+"/")
	switch level := catalogue.Level(model); level {
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

func (h *helpers) run(ctx context.Context, id, input string) error {
	return h.bench.start(ctx, id, func(s *agent.Session, ctx context.Context) iter.Seq2[agent.Event, error] { return s.Run(ctx, input) })
}

// own returns an agent of the parent, which stays in memory until release is
// called.
func (h *helpers) own(ctx context.Context, id string) (l *live.Session, release func(), err error) {
	info, err := h.bench.cfg.Store.Session(ctx, id)
	if err != nil || info.Helper == nil || info.Helper.Parent != h.parent {
		return nil, nil, fmt.Errorf("there is no agent %q of yours", id)
	}
	if h.bench.treeGone(info) {
		return nil, nil, fmt.Errorf("agent %q was ended and its worktree removed; start another one", id)
	}
	return h.bench.sessions.Open(ctx, id)
}

// Send implements [subagent.Host].
func (h *helpers) Send(ctx context.Context, id, message string) error {
	l, release, err := h.own(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	if err := h.keepsTo(ctx, id); err != nil {
		return err
	}
	if !l.Busy() {
		return h.run(ctx, id, message)
	}
	_, err = h.bench.addQueued(ctx, QueueAddRequest{Session: id, Verb: agent.Steer, Text: message})
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
	if err := l.Wait(ctx); err != nil {
		return subagent.Report{}, fmt.Errorf("the wait was ended: %w", err)
	}
	report, err := h.report(ctx, id)
	report.Worktree = h.worktree(ctx, id)
	return report, err
}

// End implements [subagent.Host].
func (h *helpers) End(ctx context.Context, id string) (subagent.Report, error) {
	_, release, err := h.own(ctx, id)
	if err != nil {
		return subagent.Report{}, err
	}
	defer release()
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

// agentsAtWork counts the agents of a session that work in this process.
func (w *Workbench) agentsAtWork(parent string) (n int) {
	for _, l := range w.sessions.StartedBy(parent) {
		if l.Busy() {
			n++
		}
	}
	return n
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
