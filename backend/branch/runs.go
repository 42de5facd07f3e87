package branch

import (
	"context"
	"os"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/worktree"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/place"
)

// maxRuns limits how many runs stand side by side.
const maxRuns = 12

// Run is what a fork or an agent did in a worktree of its own, since it left the session
// into whose folder it may be merged.
type Run struct {
	Session  backend.SessionInfo `json:"session"`
	Worktree string              `json:"worktree"` // its name
	Agent    bool                `json:"agent,omitempty"`
	Facts    BranchFacts         `json:"facts"`
	// Files counts those that differ from where its branch left the project, committed or
	// not; the lines of files that git does not know yet are not in Added.
	Files   int `json:"files"`
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// Test is the last command that the user ran there.
	Test *Test `json:"test,omitempty"`
	// Unread says why the worktree could not be compared; empty if it could.
	Unread string `json:"unread,omitempty"`
}

// RunsReply answers sessions.runs.
type RunsReply struct {
	// Target is the session into whose folder the runs may be merged, and Test the last
	// command that the user ran there.
	Target backend.SessionInfo `json:"target"`
	Test   *Test               `json:"test,omitempty"`
	Runs   []Run               `json:"runs,omitempty"` // the newest last
	More   int                 `json:"more,omitempty"`
}

// runs answers sessions.runs: the worktrees of a session's forks and agents, side by side.
func (b *Branches) runs(ctx context.Context, in place.SessionRef) (RunsReply, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, errSlow)
	defer cancel()
	reply, err := b.runsOf(ctx, in.Session)
	return reply, slowError(ctx, err)
}

func (b *Branches) runsOf(ctx context.Context, session string) (RunsReply, error) {
	var reply RunsReply
	all, err := b.cfg.Store.Sessions(ctx, b.cfg.Project.Dir)
	if err != nil {
		return reply, err
	}
	find := func(id string) (backend.SessionInfo, bool) {
		i := slices.IndexFunc(all, func(info backend.SessionInfo) bool { return info.ID == id })
		if i < 0 {
			return backend.SessionInfo{}, false
		}
		return all[i], true
	}
	if reply.Target, err = b.target(ctx, find, session); err != nil {
		return reply, err
	}
	var target Work
	if err := b.fold(ctx, &target, reply.Target, 0); err != nil {
		return reply, err
	}
	reply.Test = target.Test
	found, err := b.inTrees(ctx, find, all, reply.Target)
	if err != nil {
		return reply, err
	}
	if reply.More = max(0, len(found)-maxRuns); reply.More > 0 {
		found = found[reply.More:] // the oldest are not shown
	}
	for _, info := range found {
		run, err := b.run(ctx, find, reply.Target, info)
		if err != nil {
			return reply, err
		}
		reply.Runs = append(reply.Runs, run)
	}
	return reply, nil
}

// target returns the session from which runs went out: a session itself, or the one that a
// run was forked from or started by.
func (b *Branches) target(ctx context.Context, find func(string) (backend.SessionInfo, bool), session string) (backend.SessionInfo, error) {
	info, err := b.cfg.Project.Session(ctx, session)
	if err != nil {
		return info, err
	}
	if info.Helper != nil {
		return b.cfg.Project.Session(ctx, info.Helper.Parent)
	}
	for range maxAncestors {
		if _, ok := b.cfg.Project.Tree(info); !ok || info.Origin == nil {
			break
		}
		origin, ok := find(info.Origin.Session)
		if !ok {
			break
		}
		info = origin
	}
	return info, nil
}

// inTrees returns the forks and the agents of a session that have worktrees of their own,
// the oldest first.
func (b *Branches) inTrees(ctx context.Context, find func(string) (backend.SessionInfo, bool), all []backend.SessionInfo, target backend.SessionInfo) ([]backend.SessionInfo, error) {
	var found []backend.SessionInfo
	for _, info := range all {
		from := ancestors(find, info)[1:]
		if slices.ContainsFunc(from, func(e event) bool { return e.session == target.ID }) && info.Marks.Deleted == 0 && info.Helper == nil {
			found = append(found, info)
		}
	}
	helpers, err := b.cfg.Store.Helpers(ctx, target.ID)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(append(found, helpers...), func(info backend.SessionInfo) bool {
		tree := b.tree(info)
		if tree.Name == "" || tree.Name == b.tree(target).Name {
			return true
		}
		_, err := os.Lstat(tree.Path())
		return err != nil
	})
	slices.SortFunc(found, func(x, y backend.SessionInfo) int { return strings.Compare(x.ID, y.ID) })
	return found, nil
}

// tree returns the worktree that was made for a session; without a name if none was.
func (b *Branches) tree(info backend.SessionInfo) worktree.Tree {
	return worktree.Tree{Project: b.cfg.Project.Dir, Name: b.cfg.Project.TreeName(info)}
}

// run returns what a run did since it left the target.
func (b *Branches) run(ctx context.Context, find func(string) (backend.SessionInfo, bool), target, info backend.SessionInfo) (Run, error) {
	run := Run{Session: info, Worktree: b.tree(info).Name, Agent: info.Helper != nil}
	after := int64(0)
	if info.Helper == nil {
		_, after = Common(find, target, info)
	}
	s := side{info: info}
	if err := b.fold(ctx, &s.work, info, after); err != nil {
		return run, err
	}
	run.Facts, run.Test = s.facts(), s.work.Test
	changes, err := worktree.ChangesOf(ctx, b.tree(info), b.cfg.Project.Folder(target))
	if err != nil {
		if ctx.Err() != nil {
			return run, context.Cause(ctx)
		}
		run.Unread = err.Error()
		return run, nil
	}
	run.Files = len(changes.Files) + changes.More
	for _, f := range changes.Files {
		run.Added, run.Removed = run.Added+f.Added, run.Removed+f.Removed
	}
	return run, nil
}
