package workbench

import (
	"context"
	"log/slog"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/branch"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/live"
	"atelier.dev/atelier/backend/place"
	"atelier.dev/atelier/backend/trees"
)

// newTrees returns the worktrees of the project.
func newTrees(w *Workbench) *trees.Trees {
	return trees.New(trees.Config{
		Project: w.cfg.Folder, ReadOnly: w.cfg.ReadOnly, Store: w.cfg.Store,
		AtRest: w.conversation.AtRest,
		Live:   func() *live.Sessions { return w.sessions },
		Settle: w.languages.StopIn,
	})
}

// newBranches returns the branches of the project's sessions, and their races.
func newBranches(w *Workbench) *branch.Branches {
	return branch.New(branch.Config{
		Project: w.project, Store: w.cfg.Store, Journal: w.journal, Undo: w.undo, ReadOnly: w.cfg.ReadOnly,
		Host: branch.Host{
			Ready: w.providers.Ready, AtRest: w.conversation.AtRest,
			Create: func(ctx context.Context) (backend.SessionInfo, error) { return w.createSession(ctx, backend.Empty{}) },
			Fork: func(ctx context.Context, session, label string, set agent.Settings) (backend.SessionInfo, error) {
				made, err := w.ForkSession(ctx, ForkRequest{Session: session, Folder: ForkInWorktree, Label: label, Settings: &set})
				return made.Session, err
			},
			Remove: func(ctx context.Context, session string) error {
				_, err := w.list.Remove(ctx, SessionRef{Session: session})
				return err
			},
			Say: func(ctx context.Context, session, prompt string) error {
				return w.conversation.Say(ctx, conversation.SendRequest{Session: session, Text: prompt})
			},
		},
	})
}

// busy reports whether a session works in this process.
func (w *Workbench) busy(session string) bool {
	l := w.sessions.Find(session)
	return l != nil && l.Busy()
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
