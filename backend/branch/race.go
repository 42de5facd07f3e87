package branch

import (
	"context"
	"errors"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
)

// How many runs a race has.
const (
	minRace = 2
	maxRace = 4
)

// RaceRequest is for sessions.race: one prompt for several forks of a session, each in a
// worktree of its own. Without a session, a new one is made for them.
type RaceRequest struct {
	Session string   `json:"session,omitempty"`
	Prompt  string   `json:"prompt"`
	Runs    []Runner `json:"runs,omitempty"`
}

// Runner is who runs in a race.
type Runner struct {
	Provider string     `json:"provider"`
	Model    string     `json:"model"`
	Effort   llm.Effort `json:"effort,omitempty"`
}

// RaceReply answers sessions.race.
type RaceReply struct {
	// Session is what the runs were forked from, and may be merged into.
	Session backend.SessionInfo   `json:"session"`
	Runs    []backend.SessionInfo `json:"runs,omitempty"`
}

// Host starts and ends sessions for races.
type Host struct {
	// Ready fails if a provider cannot be asked.
	Ready func(ctx context.Context, provider string) error
	// AtRest fails if a session works.
	AtRest func(ctx context.Context, session string) (backend.SessionInfo, error)
	Create func(ctx context.Context) (backend.SessionInfo, error)
	// Fork forks a session at its end, into a worktree.
	Fork func(ctx context.Context, session, label string, settings agent.Settings) (backend.SessionInfo, error)
	// Remove removes a session, with its worktree if nothing new is in it.
	Remove func(ctx context.Context, session string) error
	// Say begins a turn.
	Say func(ctx context.Context, session, prompt string) error
}

// race answers sessions.race. Either all runs begin, or there are none.
func (b *Branches) race(ctx context.Context, in RaceRequest) (reply RaceReply, err error) {
	switch {
	case b.cfg.ReadOnly:
		return reply, backend.Problem(backend.ProblemForkReadOnly)
	case strings.TrimSpace(in.Prompt) == "":
		return reply, backend.Problem(backend.ProblemMessageEmpty)
	case len(in.Runs) < minRace || len(in.Runs) > maxRace:
		return reply, backend.Problem(backend.ProblemRaceRuns)
	}
	for _, r := range in.Runs {
		if err := b.cfg.Host.Ready(ctx, r.Provider); err != nil {
			return reply, err
		}
	}
	var made []string
	defer func() {
		if err == nil {
			return
		}
		for _, id := range made {
			err = errors.Join(err, b.cfg.Host.Remove(context.WithoutCancel(ctx), id))
		}
	}()
	if in.Session == "" {
		if reply.Session, err = b.cfg.Host.Create(ctx); err != nil {
			return reply, err
		}
		made = append(made, reply.Session.ID)
	} else if reply.Session, err = b.cfg.Project.Session(ctx, in.Session); err != nil {
		return reply, err
	}
	for _, r := range in.Runs {
		set := reply.Session.Settings
		set.Provider, set.Model, set.Effort = r.Provider, r.Model, r.Effort
		if set.Mode == agent.ModeBypass { // it was allowed there, not here
			set.Mode = agent.ModeDefault
		}
		run, err := b.cfg.Host.Fork(ctx, reply.Session.ID, r.Model, set)
		if err != nil {
			return reply, err
		}
		made, reply.Runs = append(made, run.ID), append(reply.Runs, run)
	}
	for _, run := range reply.Runs {
		if err := b.cfg.Host.Say(ctx, run.ID, in.Prompt); err != nil {
			return reply, err
		}
	}
	return reply, nil
}
