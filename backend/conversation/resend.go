package conversation

import (
	"context"
	"strings"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/live"
	"atelier.dev/atelier/backend/undoing"
)

// resend takes back the conversation from a turn on, and begins a turn with another
// prompt, in one step. It returns when that turn has begun.
func (c *Conversations) resend(ctx context.Context, in ResendRequest) (backend.Empty, error) {
	if strings.TrimSpace(in.Text) == "" {
		return backend.Empty{}, backend.Problem(backend.ProblemMessageEmpty)
	}
	if in.Turn <= 0 {
		return backend.Empty{}, backend.Problem(backend.ProblemRewindNothing)
	}
	info, err := c.AtRest(ctx, in.Session)
	if err != nil {
		return backend.Empty{}, undoing.Busy(err)
	}
	if err := c.cfg.Host.Ready(ctx, info.Settings.Provider); err != nil {
		return backend.Empty{}, err
	}
	c.cfg.Host.Prepare(info)
	input, err := c.cfg.Host.Input(ctx, info, in.Text, in.Command)
	if err != nil {
		return backend.Empty{}, err
	}
	l, release, err := c.cfg.Sessions.Open(ctx, in.Session)
	if err != nil {
		return backend.Empty{}, err
	}
	defer release()
	return backend.Empty{}, undoing.Busy(l.StartAfter(c.cfg.Undo.TakingBack(in.Session, in.Turn, in.Files), live.Input(input)))
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
	Files   []undoing.UndoChoice `json:"files,omitempty"`
}
