package trees

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/moving"
	"atelier.dev/atelier/agent/worktree"
	"atelier.dev/atelier/backend"
)

// Tools returns the tools with which a session moves into a worktree and back; none if
// nothing may be changed. An agent stays where it was put.
func (t *Trees) Tools(info backend.SessionInfo) []agent.Tool {
	if t.cfg.ReadOnly || info.Helper != nil {
		return nil
	}
	return moving.Tools(mover{t, info}, t.cfg.Project)
}

// mover moves a session that was made for the place where it is now.
type mover struct {
	trees *Trees
	info  backend.SessionInfo
}

// Enter implements [moving.Host].
func (m mover) Enter(ctx context.Context, name string) (moving.Place, error) {
	project := m.trees.cfg.Project
	if at := nameIn(m.info.Worktree); at != "" {
		return moving.Place{}, fmt.Errorf("the session works in the worktree %s/%s already: work there, or leave it first if it was entered with this tool", worktree.Dir, at)
	}
	name = cmp.Or(name, worktree.Name("session", m.info.ID))
	users, err := m.trees.usersOf(ctx)
	if err != nil {
		return moving.Place{}, err
	}
	if user, used := users[name]; used && user.ID != m.info.ID && treeName(user) == name {
		return moving.Place{}, fmt.Errorf("another session works in %s/%s (%.60q): take another name", worktree.Dir, name, user.Title)
	}
	var tree worktree.Tree
	_, missing := os.Lstat(filepath.Join(project, worktree.Dir, name))
	if missing != nil {
		tree, err = worktree.Create(ctx, project, name)
	} else {
		tree, err = worktree.Find(ctx, project, name)
	}
	if err != nil {
		return moving.Place{}, err
	}
	if missing != nil {
		if err := m.admitted(ctx, tree); err != nil {
			return moving.Place{}, err
		}
	}
	below, err := filepath.Rel(project, tree.Folder)
	if err != nil {
		return moving.Place{}, fmt.Errorf("find the worktree in the project: %w", err)
	}
	return moving.Place{Folder: filepath.ToSlash(below), Tree: tree, Found: missing == nil}, nil
}

// admitted asks the session's hooks about a new worktree, which is removed if they refuse it.
func (m mover) admitted(ctx context.Context, tree worktree.Tree) error {
	advice := m.trees.fire(ctx, m.info.ID, agent.WorktreeCreateInput{Name: tree.Name, Path: tree.Path(), Branch: tree.Branch()})
	if advice.Decision != agent.Deny {
		return nil
	}
	refused := fmt.Errorf("a hook refused the worktree: %s", cmp.Or(advice.Reason, "it gave no reason"))
	if held, gone := m.trees.RemoveIdle(context.WithoutCancel(ctx), tree); !gone { // what the hook left there
		refused = errors.Join(refused, fmt.Errorf("%s is kept, because %s", tree.Path(), held))
	}
	return refused
}

// Exit implements [moving.Host].
func (m mover) Exit(ctx context.Context, in moving.Leave) (moving.Place, error) {
	base := m.info.Places[0]
	name := nameIn(m.info.Worktree)
	if name == "" || m.info.Worktree == base {
		return moving.Place{}, errors.New("the session has not entered a worktree with the tool for that, so there is nothing to leave")
	}
	at := moving.Place{Folder: base, Tree: worktree.Tree{Project: m.trees.cfg.Project, Name: name}}
	if _, err := os.Stat(at.Tree.Path()); !in.Remove || os.IsNotExist(err) {
		at.Removed = os.IsNotExist(err)
		return at, nil
	}
	m.trees.cfg.Settle(ctx, at.Tree.Path())
	held, err := worktree.Remove(ctx, at.Tree)
	switch {
	case err != nil:
		return at, fmt.Errorf("the worktree was not removed, and you are still in it: %w", err)
	case held.Why == worktree.InUse || held.Why == worktree.Strange || held.Why == worktree.Locked:
		return at, fmt.Errorf("the worktree was not removed, because %s; you are still in it. Stop what works there, or leave with the action keep", held)
	case held.Why != "" && !in.Discard:
		return at, fmt.Errorf("the worktree was not removed, because %s; you are still in it. Commit and merge it, leave with the action keep, or ask the user whether that work may be lost", held)
	case held.Why != "":
		if err := worktree.Discard(ctx, at.Tree); err != nil {
			return at, fmt.Errorf("the worktree was not removed, and you are still in it: %w", err)
		}
	}
	m.trees.fire(ctx, m.info.ID, Removal(at.Tree))
	at.Removed = true
	return at, nil
}
