package workbench

import (
	"context"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// rewind takes back the conversation from a turn on.
func (w *Workbench) rewind(ctx context.Context, in RewindRequest) (RewindReply, error) {
	var reply RewindReply
	err := w.exclusively(ctx, in.Session, func(ctx context.Context, info backend.SessionInfo, record func(agent.Payload) error) error {
		u, err := w.undoable(ctx, info)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(u.turns, func(t turnStart) bool { return t.turn == in.Turn })
		if in.Turn == 0 {
			i = len(u.turns) - 1
			for i >= 0 && info.TookBack(u.turns[i].seq) {
				i--
			}
		}
		if i < 0 || info.TookBack(u.turns[i].seq) {
			return backend.Problem(backend.ProblemRewindNothing)
		}
		rewound := agent.Rewound{ID: newRestoration(), To: u.turns[i].seq - 1, Prompt: u.turns[i].prompt}
		for _, t := range u.turns[i:] {
			if !info.TookBack(t.seq) {
				rewound.Turns++
			}
		}
		reply = RewindReply{ID: rewound.ID, Prompt: rewound.Prompt}
		return record(rewound)
	})
	return reply, err
}

// bringBack brings back what a rewind took, until the conversation has gone on.
func (w *Workbench) bringBack(ctx context.Context, in BringBackRequest) (backend.Empty, error) {
	return backend.Empty{}, w.exclusively(ctx, in.Session, func(ctx context.Context, info backend.SessionInfo, record func(agent.Payload) error) error {
		i := slices.IndexFunc(info.Rewound, func(p backend.Span) bool { return p.ID == in.ID })
		if i < 0 {
			return backend.Problem(backend.ProblemRewindNothing)
		}
		log, err := w.undoLog(ctx, info)
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
