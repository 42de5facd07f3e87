package workbench

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/project"
	"atelier.dev/atelier/agent/worktree"
	"atelier.dev/atelier/backend"
)

// settledTree is how old a worktree is that no session names, before it counts as left by
// a crash: another process may be making it.
const settledTree = 10 * time.Minute

// usersOf returns the sessions that work in worktrees of the project, by their names.
func (w *Workbench) usersOf(ctx context.Context) (map[string]backend.SessionInfo, error) {
	sessions, err := w.cfg.Store.Sessions(ctx, w.cfg.Folder)
	if err != nil {
		return nil, err
	}
	users := map[string]backend.SessionInfo{}
	for _, info := range sessions {
		if name := w.project.TreeName(info); name != "" {
			users[name] = info
		}
	}
	return users, nil
}

// branchIn returns the git branch in a folder of the project; empty if there is none.
func (w *Workbench) branchIn(below string) string {
	return project.Branch(filepath.Join(w.cfg.Folder, filepath.FromSlash(below)))
}

// listWorktrees lists the worktrees of the project, with those that work there and what
// would be lost with each.
func (w *Workbench) listWorktrees(ctx context.Context, _ backend.Empty) (WorktreesReply, error) {
	reply := WorktreesReply{Limit: worktree.MaxTrees}
	users, err := w.usersOf(ctx)
	if err != nil {
		return reply, err
	}
	trees, err := worktree.List(ctx, w.cfg.Folder)
	if err != nil {
		return reply, backend.Problem(backend.ProblemWorktreeKept).Detailed(err.Error()).Because(err)
	}
	for _, t := range trees {
		row := worktreeInfo(t.Tree, t.Held)
		row.Size = t.Size
		if user, ok := users[t.Name]; ok {
			row.Session, row.Title, row.Agent = user.ID, user.Title, user.Helper != nil
			row.Deleted = user.Marks.Deleted > 0
		}
		reply.Worktrees = append(reply.Worktrees, row)
	}
	return reply, nil
}

func worktreeInfo(t worktree.Tree, held worktree.Held) WorktreeInfo {
	return WorktreeInfo{
		Name: t.Name, Path: worktree.Dir + "/" + t.Name, Branch: t.Branch(),
		WorktreeHeld: WorktreeHeld{held.Why, held.Files, held.Bytes, held.Examples, held.String()},
	}
}

// removeWorktree removes a worktree that no session works in. Without All, only if nothing
// is lost with it; otherwise the reply says what would be.
func (w *Workbench) removeWorktree(ctx context.Context, in WorktreeRemoveRequest) (WorktreeFate, error) {
	if w.cfg.ReadOnly {
		return WorktreeFate{}, backend.Problem(backend.ProblemForkReadOnly)
	}
	users, err := w.usersOf(ctx)
	if err != nil {
		return WorktreeFate{}, err
	}
	if user, ok := users[in.Name]; ok {
		if _, err := w.atRest(ctx, user.ID); err != nil {
			return WorktreeFate{}, err
		}
	}
	tree := worktree.Tree{Project: w.cfg.Folder, Name: in.Name}
	held, err := worktree.Remove(ctx, tree)
	if err == nil && held.Why != "" && in.All {
		held, err = worktree.Held{}, worktree.Discard(ctx, tree)
	}
	if err != nil {
		return WorktreeFate{}, backend.Problem(backend.ProblemWorktreeKept).Detailed(err.Error()).Because(err)
	}
	return WorktreeFate{worktreeInfo(tree, held), held.Why == ""}, nil
}

// forgetTrees removes the worktrees of sessions that were removed, and those that a crash
// left without a session, unless something would be lost or another session works there.
// It returns what became of the former.
func (w *Workbench) forgetTrees(ctx context.Context, removed []backend.SessionInfo) (fates []WorktreeFate) {
	if w.cfg.ReadOnly {
		return nil
	}
	users, err := w.usersOf(ctx)
	if err != nil {
		slog.Warn("could not see who uses worktrees", "err", err)
		return nil
	}
	var done []string
	for _, info := range removed {
		tree := worktree.Tree{Project: w.cfg.Folder, Name: w.project.TreeName(info)}
		if _, used := users[tree.Name]; tree.Name == "" || used || slices.Contains(done, tree.Name) {
			continue
		}
		if _, err := os.Lstat(tree.Path()); err != nil {
			continue
		}
		done = append(done, tree.Name)
		held, isGone := w.removeTree(ctx, tree)
		fates = append(fates, WorktreeFate{worktreeInfo(tree, held), isGone})
		if isGone && info.Origin != nil {
			w.tellRemoved(ctx, info.Origin.Session, tree)
		}
	}
	for _, tree := range worktree.Names(w.cfg.Folder) {
		at, err := os.Lstat(filepath.Join(tree.Path(), ".git"))
		if _, used := users[tree.Name]; used || err != nil || slices.Contains(done, tree.Name) || time.Since(at.ModTime()) < settledTree {
			continue
		}
		w.removeTree(ctx, tree)
	}
	return fates
}

// tellRemoved tells the hooks of the session that was forked that the worktree of the
// fork is gone, if there still is such a session. The fork has ended.
func (w *Workbench) tellRemoved(ctx context.Context, session string, tree worktree.Tree) {
	l, release, err := w.sessions.Open(ctx, session)
	if err != nil {
		return
	}
	defer release()
	l.Observe(agent.HookWorktreeRemove, func(context.Context) agent.HookInput { return removed(tree) })
}

// removeTree removes a worktree if nothing is lost with it. It returns what would be, and
// whether it is gone.
func (w *Workbench) removeTree(ctx context.Context, tree worktree.Tree) (held worktree.Held, isGone bool) {
	held, err := worktree.Remove(ctx, tree)
	if err != nil || held.Why != "" {
		slog.Info("kept a worktree", "worktree", tree.Path(), "because", held.String(), "err", err)
	}
	if err != nil && held.Why == "" {
		held.Why = worktree.Strange
	}
	return held, err == nil && held.Why == ""
}

// WorktreesReply answers worktrees.list, ordered by name.
type WorktreesReply struct {
	Worktrees []WorktreeInfo `json:"worktrees,omitempty"`
	// Limit is how many the project may have.
	Limit int `json:"limit"`
}

// WorktreeInfo is a git worktree that was made for a session or an agent.
type WorktreeInfo struct {
	Name   string `json:"name"`
	Path   string `json:"path"` // in the project
	Branch string `json:"branch"`
	// Session works there; empty if none does any more.
	Session string `json:"session,omitempty"`
	Title   string `json:"title,omitempty"`
	Agent   bool   `json:"agent,omitempty"`
	Deleted bool   `json:"deleted,omitempty"`
	Size    int64  `json:"size,omitempty"` // bytes, at least
	WorktreeHeld
}

// WorktreeHeld says in Why what would be lost with a worktree; empty if nothing. Files,
// Bytes and Examples name it, and Because says it in English.
type WorktreeHeld struct {
	Why      worktree.Kept `json:"why,omitempty"`
	Files    int           `json:"files,omitempty"`
	Bytes    int64         `json:"bytes,omitempty"`
	Examples []string      `json:"examples,omitempty"`
	Because  string        `json:"because,omitempty"`
}

// WorktreeRemoveRequest is for worktrees.remove. All removes it with what would be lost,
// which the user was shown.
type WorktreeRemoveRequest struct {
	Name string `json:"name"`
	All  bool   `json:"all,omitempty"`
}

// WorktreeFate says whether a worktree was removed; otherwise what would be lost.
type WorktreeFate struct {
	WorktreeInfo
	Removed bool `json:"removed"`
}
