package delegation

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/trees"
)

// isolate makes a worktree for an agent, and moves its folder there (OAS-506).
func (c *Crew) isolate(ctx context.Context, parent backend.SessionInfo, id string, helper *agent.Helper) error {
	cfg := &c.d.cfg
	if cfg.ReadOnly || parent.Settings.Mode == agent.ModePlan {
		return errors.New("nothing may be changed now, so an agent needs no worktree: start it without isolation")
	}
	below, err := filepath.Rel(cfg.Project.Folder(parent), helper.Folder)
	if err != nil {
		return fmt.Errorf("find the agent's folder in the project: %w", err)
	}
	tree, err := cfg.Trees.Make(ctx, cfg.Project.Dir, helper.Task, id)
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

// admitTree asks the parent's hooks about an agent's new worktree. If one denies it, the
// worktree is removed, and the agent does not begin.
func (c *Crew) admitTree(ctx context.Context, id string, helper *agent.Helper) error {
	l := c.d.cfg.Sessions().Find(c.self)
	if helper.Worktree == "" || l == nil {
		return nil
	}
	tree := c.d.cfg.Project.AgentTree(helper)
	refused := trees.Ask(ctx, l, tree)
	if refused == nil {
		return nil
	}
	kept, err := c.removeTree(context.WithoutCancel(ctx), backend.SessionInfo{ID: id, Helper: helper})
	if kept.Why != "" { // what the hook left there
		err = errors.Join(err, fmt.Errorf("%s is kept, because %s", tree.Path(), kept))
	}
	return errors.Join(refused, err)
}

// worktree tells a parent where an agent's work is; empty if it has no worktree.
func (c *Crew) worktree(ctx context.Context, id string) string {
	info, err := c.d.cfg.Store.Session(ctx, id)
	if err != nil || info.Helper == nil || info.Helper.Worktree == "" {
		return ""
	}
	tree := c.d.cfg.Project.AgentTree(info.Helper)
	return fmt.Sprintf("%s/%s, on the branch %s", trees.Dir, tree.Name, tree.Branch())
}

// endTree ends an agent's session with its commands, removes its worktree if
// nothing is lost with it, and tells the parent.
func (c *Crew) endTree(ctx context.Context, id string) string {
	where := c.worktree(ctx, id)
	why := "it works again"
	closed, err := c.d.cfg.Sessions().CloseAtRest(ctx, []string{id})
	if closed {
		var info backend.SessionInfo
		if info, err = c.d.cfg.Store.Session(ctx, id); err == nil {
			var held trees.Held
			held, err = c.removeTree(ctx, info)
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
func (c *Crew) removeTree(ctx context.Context, info backend.SessionInfo) (trees.Held, error) {
	if info.Helper.Worktree == "" {
		return trees.Held{}, nil
	}
	tree := c.d.cfg.Project.AgentTree(info.Helper)
	kept, err := trees.Remove(ctx, tree)
	if kept.Why == "" && err == nil {
		if l := c.d.cfg.Sessions().Find(c.self); l != nil {
			l.Observe(agent.HookWorktreeRemove, func(context.Context) agent.HookInput { return trees.Removal(tree) })
		}
	}
	return kept, err
}
