package workbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"path/filepath"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/live"
	"atelier.dev/atelier/backend/place"
	"atelier.dev/atelier/backend/trees"
)

// newTrees returns the worktrees of the project.
func newTrees(w *Workbench) *trees.Trees {
	return trees.New(trees.Config{
		Project: w.cfg.Folder, ReadOnly: w.cfg.ReadOnly, Store: w.cfg.Store,
		AtRest: w.atRest,
		Live:   func() *live.Sessions { return w.sessions },
		Settle: w.languages.StopIn,
	})
}

// isolate makes a worktree for an agent, and moves its folder there (OAS-506).
func (h *helpers) isolate(ctx context.Context, parent backend.SessionInfo, id string, helper *agent.Helper) error {
	w := h.bench
	if w.cfg.ReadOnly || parent.Settings.Mode == agent.ModePlan {
		return errors.New("nothing may be changed now, so an agent needs no worktree: start it without isolation")
	}
	below, err := filepath.Rel(w.folderOf(parent), helper.Folder)
	if err != nil {
		return fmt.Errorf("find the agent's folder in the project: %w", err)
	}
	tree, err := w.trees.Make(ctx, w.cfg.Folder, helper.Task, id)
	if err != nil {
		return err
	}
	helper.Worktree = tree.Name
	if helper.Folder, err = workingDir(tree.Folder, below); err != nil {
		_, removing := trees.Remove(context.WithoutCancel(ctx), tree)
		return errors.Join(fmt.Errorf("find the folder in the last commit: %w", err), removing)
	}
	return nil
}

// fireTree asks a session's hooks about a new worktree, and returns why it is refused.
func fireTree(ctx context.Context, l *live.Session, tree trees.Tree) error {
	advice := l.Fire(ctx, agent.WorktreeCreateInput{Name: tree.Name, Path: tree.Path(), Branch: tree.Branch()})
	if advice.Decision != agent.Deny {
		return nil
	}
	return fmt.Errorf("a hook refused the worktree: %s", cmp.Or(advice.Reason, "it gave no reason"))
}

// admitTree asks the parent's hooks about an agent's new worktree. If one denies it, the
// worktree is removed, and the agent does not begin.
func (h *helpers) admitTree(ctx context.Context, id string, helper *agent.Helper) error {
	l := h.bench.sessions.Find(h.parent)
	if helper.Worktree == "" || l == nil {
		return nil
	}
	tree := h.bench.project.AgentTree(helper)
	refused := fireTree(ctx, l, tree)
	if refused == nil {
		return nil
	}
	kept, err := h.removeTree(context.WithoutCancel(ctx), backend.SessionInfo{ID: id, Helper: helper})
	if kept.Why != "" { // what the hook left there
		err = errors.Join(err, fmt.Errorf("%s is kept, because %s", tree.Path(), kept))
	}
	return errors.Join(refused, err)
}

// worktree tells a parent where an agent's work is; empty if it has no worktree.
func (h *helpers) worktree(ctx context.Context, id string) string {
	info, err := h.bench.cfg.Store.Session(ctx, id)
	if err != nil || info.Helper == nil || info.Helper.Worktree == "" {
		return ""
	}
	tree := h.bench.project.AgentTree(info.Helper)
	return fmt.Sprintf("%s/%s, on the branch %s", trees.Dir, tree.Name, tree.Branch())
}

// endTree ends an agent's session with its commands, removes its worktree if
// nothing is lost with it, and tells the parent.
func (h *helpers) endTree(ctx context.Context, id string) string {
	where := h.worktree(ctx, id)
	why := "it works again"
	closed, err := h.bench.sessions.CloseAtRest(ctx, []string{id})
	if closed {
		var info backend.SessionInfo
		if info, err = h.bench.cfg.Store.Session(ctx, id); err == nil {
			var held trees.Held
			held, err = h.removeTree(ctx, info)
			why = held.String()
		}
	}
	switch {
	case err != nil:
		why = err.Error()
	case why == "":
		return "removed, because nothing in it was new"
	}
	return fmt.Sprintf("%s; kept, because %s. Once its branch is merged, atelier worktrees remove %s removes both", where, why, path.Base(strings.SplitN(where, ",", 2)[0]))
}

// removeTree removes the worktree of an agent that has ended, if nothing is lost
// with it, and tells the parent's hooks.
func (h *helpers) removeTree(ctx context.Context, info backend.SessionInfo) (trees.Held, error) {
	if info.Helper.Worktree == "" {
		return trees.Held{}, nil
	}
	tree := h.bench.project.AgentTree(info.Helper)
	kept, err := trees.Remove(ctx, tree)
	if kept.Why == "" && err == nil {
		h.bench.observe(h.parent, agent.HookWorktreeRemove, func(context.Context) agent.HookInput { return trees.Removal(tree) })
	}
	return kept, err
}

// removeTrees removes the worktrees of a session's agents when it ends, except those
// that hold something new and those of agents that wait for a person.
func (w *Workbench) removeTrees(ctx context.Context, session string) {
	started, err := w.cfg.Store.Helpers(ctx, session)
	if err != nil {
		slog.Warn("could not list the agents' worktrees", "session", session, "err", err)
		return
	}
	for _, info := range started {
		if info.Helper == nil || info.Helper.Worktree == "" || place.LostTree(info) || info.State != agent.StateIdle && info.State != agent.StateClosed {
			continue
		}
		tree := w.project.AgentTree(info.Helper)
		switch kept, err := trees.Remove(ctx, tree); {
		case err != nil || kept.Why != "":
			slog.Info("kept an agent's worktree", "agent", info.ID, "worktree", tree.Path(), "because", kept.String(), "err", err)
		default:
			if l := w.sessions.Find(session); l != nil {
				l.Fire(ctx, trees.Removal(tree))
			}
		}
	}
}
