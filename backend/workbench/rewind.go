package workbench

import (
	"context"
	"iter"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/live"
)

// rewind takes back the conversation from a turn on.
func (w *Workbench) rewind(ctx context.Context, in RewindRequest) (RewindReply, error) {
	var reply RewindReply
	err := w.exclusively(ctx, in.Session, func(ctx context.Context, info backend.SessionInfo, record func(agent.Payload) error) error {
		rewound, err := w.rewinding(ctx, info, in.Turn)
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
func (w *Workbench) rewinding(ctx context.Context, info backend.SessionInfo, turn int) (agent.Rewound, error) {
	u, err := w.undoable(ctx, info)
	if err != nil {
		return agent.Rewound{}, err
	}
	i := slices.IndexFunc(u.turns, func(t turnStart) bool { return t.turn == turn })
	if turn == 0 {
		i = u.newest()
	}
	if i < 0 || u.took(u.turns[i].seq) {
		return agent.Rewound{}, backend.Problem(backend.ProblemRewindNothing)
	}
	rewound := agent.Rewound{ID: newRestoration(), To: u.turns[i].seq - 1, Prompt: u.turns[i].prompt}
	for _, t := range u.turns[i:] {
		if !u.took(t.seq) {
			rewound.Turns++
		}
	}
	return rewound, nil
}

// resend takes back the conversation from a turn on, and begins a turn with another
// prompt, in one step. It returns when that turn has begun.
func (w *Workbench) resend(ctx context.Context, in ResendRequest) (backend.Empty, error) {
	if strings.TrimSpace(in.Text) == "" {
		return backend.Empty{}, backend.Problem(backend.ProblemMessageEmpty)
	}
	if in.Turn <= 0 {
		return backend.Empty{}, backend.Problem(backend.ProblemRewindNothing)
	}
	info, err := w.atRest(ctx, in.Session)
	if err != nil {
		return backend.Empty{}, undoBusy(err)
	}
	if err := w.providers.Ready(ctx, info.Settings.Provider); err != nil {
		return backend.Empty{}, err
	}
	w.prepare(info)
	input, err := w.input(ctx, info, in.Text, in.Command)
	if err != nil {
		return backend.Empty{}, err
	}
	l, release, err := w.sessions.Open(ctx, in.Session)
	if err != nil {
		return backend.Empty{}, err
	}
	defer release()
	return backend.Empty{}, undoBusy(l.StartAfter(w.takingBack(in), runInput(input)))
}

// takingBack is the part of resend that precedes the new turn. The files come first,
// because if one of them has changed since it was shown, nothing is done.
func (w *Workbench) takingBack(in ResendRequest) live.Turn {
	do := func(ctx context.Context, info backend.SessionInfo, record func(agent.Payload) error) error {
		rewound, err := w.rewinding(ctx, info, in.Turn)
		if err != nil {
			return err
		}
		if len(in.Files) > 0 {
			if _, err := w.restore(ctx, info, UndoTarget{Since: in.Turn}, in.Files, record); err != nil {
				return err
			}
		}
		return record(rewound)
	}
	return func(s *agent.Session, ctx context.Context) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) {
			more := true
			err := w.alone(ctx, in.Session, s, func(ev agent.Event, err error) bool {
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

// ResendRequest is for undo.resend: Turn and all after it are taken back, and Text is
// sent in their place. Files are what of a preview since that turn is restored as
// well; none means that files stay as they are.
type ResendRequest struct {
	Session string `json:"session"`
	Turn    int    `json:"turn"`
	Text    string `json:"text"`
	// Command is the skill that the text, as it was typed, uses.
	Command *backend.CommandCall `json:"command,omitempty"`
	Files   []UndoChoice         `json:"files,omitempty"`
}

// BringBackRequest is for undo.bring_back.
type BringBackRequest struct {
	Session string `json:"session"`
	ID      string `json:"id"`
}
