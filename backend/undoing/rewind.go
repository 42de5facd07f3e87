package undoing

import (
	"context"
	"iter"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/live"
)

// Rewind takes back the conversation from a turn on.
func (u *Undo) Rewind(ctx context.Context, in RewindRequest) (RewindReply, error) {
	var reply RewindReply
	err := u.Exclusively(ctx, in.Session, func(ctx context.Context, info backend.SessionInfo, record func(agent.Payload) error) error {
		rewound, err := u.rewinding(ctx, info, in.Turn)
		if err != nil {
			return err
		}
		reply = RewindReply{ID: rewound.ID, Prompt: rewound.Prompt}
		return record(rewound)
	})
	return reply, err
}

// rewinding returns what takes back the conversation from a turn on; from the newest
// turn that stands if it is 0.
func (u *Undo) rewinding(ctx context.Context, info backend.SessionInfo, turn int) (agent.Rewound, error) {
	past, err := u.undoable(ctx, info)
	if err != nil {
		return agent.Rewound{}, err
	}
	i := slices.IndexFunc(past.turns, func(t turnStart) bool { return t.turn == turn })
	if turn == 0 {
		i = past.newest()
	}
	if i < 0 || past.took(past.turns[i].seq) {
		return agent.Rewound{}, backend.Problem(backend.ProblemRewindNothing)
	}
	rewound := agent.Rewound{ID: NewID(), To: past.turns[i].seq - 1, Prompt: past.turns[i].prompt}
	for _, t := range past.turns[i:] {
		if !past.took(t.seq) {
			rewound.Turns++
		}
	}
	return rewound, nil
}

// TakingBack returns what takes back the conversation of a session from a turn on, and restores
// files of a preview since then. The files come first, because if one of them has changed since it
// was shown, nothing is done. Another turn follows it; see [live.Session.StartAfter].
func (u *Undo) TakingBack(session string, turn int, files []UndoChoice) live.Turn {
	do := func(ctx context.Context, info backend.SessionInfo, record func(agent.Payload) error) error {
		rewound, err := u.rewinding(ctx, info, turn)
		if err != nil {
			return err
		}
		if len(files) > 0 {
			if _, err := u.restore(ctx, info, UndoTarget{Since: turn}, files, record); err != nil {
				return err
			}
		}
		return record(rewound)
	}
	return func(s *agent.Session, ctx context.Context) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) {
			more := true
			err := u.alone(ctx, session, s, func(ev agent.Event, err error) bool {
				more = yield(ev, err)
				return more
			}, do)
			if err != nil && more {
				yield(agent.Event{}, err)
			}
		}
	}
}

// bringBack brings back what a rewind took, until the conversation has gone on.
func (u *Undo) bringBack(ctx context.Context, in BringBackRequest) (backend.Empty, error) {
	return backend.Empty{}, u.Exclusively(ctx, in.Session, func(ctx context.Context, info backend.SessionInfo, record func(agent.Payload) error) error {
		i := slices.IndexFunc(info.Rewound, func(p backend.Span) bool { return p.ID == in.ID })
		if i < 0 {
			return backend.Problem(backend.ProblemRewindNothing)
		}
		log, err := u.logs.Events(ctx, info)
		if err != nil {
			return err
		}
		for _, ev := range log {
			switch ev.Data.(type) {
			case agent.UserInput, agent.LocalCommandStart:
				if ev.Seq > info.Rewound[i].To && !info.TookBack(ev.Seq) {
					return backend.Problem(backend.ProblemRewindFollowed)
				}
			}
		}
		return record(agent.RewindUndone{ID: in.ID})
	})
}

// RewindRequest is for undo.rewind: Turn and all after it are taken back. 0 means the
// newest turn.
type RewindRequest struct {
	Session string `json:"session"`
	Turn    int    `json:"turn,omitempty"`
}

// RewindReply has the prompt that was taken back, for editing.
type RewindReply struct {
	ID     string `json:"id"`
	Prompt string `json:"prompt"`
}

// BringBackRequest is for undo.bring_back.
type BringBackRequest struct {
	Session string `json:"session"`
	ID      string `json:"id"`
}
