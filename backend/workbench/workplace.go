package workbench

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/agent/network"
	"atelier.dev/atelier/agent/tool"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/live"
	"atelier.dev/atelier/backend/toolbox"
)

// cleanUpTime limits how long a session's agents and commands may take to end.
const cleanUpTime = 4 * time.Second

// workplace is where a session's tools act. It and its commands outlive the
// session's memory, which is read again when the log has grown elsewhere.
type workplace struct {
	env    env.Environment
	tasks  *tool.Tasks
	watch  *toolbox.Watch // of commands whose lines wake the session
	pages  *toolbox.Browser
	output string // the folder for output that exceeds the memory limit
	hooks  *hook.Engine
	folder string // where the session works; empty for an agent
	// others are those of the folders where the session worked before.
	others []workplace
}

// places holds the workplaces of the sessions that this process works on.
type places struct {
	sync.Mutex
	bySession map[string]workplace
}

// placeOf returns the workplace of a session, if it has one.
func (w *Workbench) placeOf(session string) (workplace, bool) {
	w.places.Lock()
	defer w.places.Unlock()
	place, ok := w.places.bySession[session]
	return place, ok
}

// outputFolder returns the private folder of a session's output. The existing
// part of its path has no symbolic links.
func (w *Workbench) outputFolder(session string) string {
	home := w.cfg.Home
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	return filepath.Join(home, "output", filepath.Base(session))
}

// workplace returns the session's workplace, and creates it if there is none. Only
// the session's owner calls it.
func (w *Workbench) workplace(ctx context.Context, info backend.SessionInfo) (workplace, error) {
	session, folder := info.ID, w.folderOf(info)
	before, ok := w.placeOf(session)
	if ok && (before.folder == folder || info.Helper != nil) {
		return before, nil
	}
	if place, ok := before.goTo(folder); ok {
		w.places.set(session, place)
		return place, nil
	}
	if err := w.project.CheckTree(info); err != nil {
		return workplace{}, err
	}
	local, err := env.NewLocal(folder)
	if err != nil {
		return workplace{}, err
	}
	place := workplace{env: local, tasks: before.tasks, watch: before.watch, pages: before.pages, output: w.outputFolder(session), others: before.left()}
	if place.tasks == nil {
		place.tasks, place.watch, place.pages = w.newTasks(session), toolbox.NewWatch(func() { attend(w, session) }), toolbox.NewBrowser(func(ctx context.Context) (network.Settings, error) { return w.confinement.Hosts(ctx, account(info)) })
	}
	local.SpillDir, local.Confine = place.output, w.confinement.Of(session, account(info), folder)
	if slog.Default().Enabled(ctx, slog.LevelDebug) {
		place.env = env.Logging(place.env, slog.Default())
	}
	if w.cfg.ReadOnly {
		place.env = env.ReadOnly(place.env)
	}
	if err := place.env.Initialize(ctx); err != nil {
		return workplace{}, fmt.Errorf("set up the session's environment: %w", err)
	}
	place.hooks = w.hooksOf(info)
	if info.Helper == nil {
		place.folder = folder
	}
	w.places.set(session, place)
	return place, nil
}

func (p *places) set(session string, place workplace) {
	p.Lock()
	defer p.Unlock()
	p.bySession[session] = place
}

// left returns the places where a session worked that leaves this one.
func (p workplace) left() []workplace {
	if p.env == nil {
		return nil
	}
	others := slices.Clone(p.others)
	p.others = nil
	return append(others, p)
}

// goTo returns the place of a folder where the session worked before.
func (p workplace) goTo(folder string) (workplace, bool) {
	all := p.left()
	at := slices.IndexFunc(all, func(o workplace) bool { return o.folder == folder })
	if at < 0 {
		return workplace{}, false
	}
	back := all[at]
	back.others = slices.Delete(all, at, at+1)
	return back, true
}

// occupied reports whether a background command of the session still runs.
func (w *Workbench) occupied(session string) bool {
	place, ok := w.placeOf(session)
	return ok && slices.ContainsFunc(place.tasks.List(), func(t tool.TaskInfo) bool { return t.Ended.IsZero() })
}

// attend has a session that is at rest work on its news; one that works finds them itself.
func attend(w *Workbench, session string) {
	if l := w.sessions.Find(session); l != nil {
		if err := live.Attend(l); err != nil {
			slog.Warn("could not wake a session", "session", session, "err", err)
		}
	}
}

// cleanUp ends the session's agents with their background commands, then the
// session's own commands (LOOP-159), and removes the agents' worktrees.
func (w *Workbench) cleanUp(ctx context.Context, session string) {
	ctx, cancel := context.WithTimeout(ctx, cleanUpTime)
	defer cancel()
	w.sessions.CloseStartedBy(ctx, session)
	w.providers.External.EndSession(session)
	w.places.Lock()
	place, ok := w.places.bySession[session]
	delete(w.places.bySession, session)
	w.places.Unlock()
	w.overlap.Leave(session)
	if !ok {
		return
	}
	place.watch.Close()
	place.pages.Close()
	for _, p := range place.left() {
		if err := p.env.Cleanup(ctx); err != nil {
			slog.Warn("could not clean up the session's environment", "session", session, "err", err)
		}
	}
	w.removeTrees(ctx, session)
	for _, p := range place.left() {
		p.hooks.Close()
	}
	if place.tasks.List() != nil {
		w.publishTask(session, agent.TaskChange{})
	}
}

// removeOutput removes the command output of a deleted session.
func (w *Workbench) removeOutput(session string) {
	if err := os.RemoveAll(w.outputFolder(session)); err != nil {
		slog.Warn("could not remove the session's output", "session", session, "err", err)
	}
}
