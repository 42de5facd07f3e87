package workbench

import (
	"context"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/feed"
	"atelier.dev/atelier/backend/live"
	"atelier.dev/atelier/backend/place"
)

// maxPage is how many events are read at a time.
const maxPage = 1000

// openConversation returns everything that a page needs to show a session. It
// reads the log before the draft: an event in between reaches the page as an
// envelope, whereas a draft older than the log could show text twice.
func (w *Workbench) openConversation(ctx context.Context, in OpenRequest) (Snapshot, error) {
	info, err := w.session(ctx, in.Session)
	if err != nil {
		return Snapshot{}, err
	}
	if info, err = w.undo.Settled(ctx, info); err != nil {
		return Snapshot{}, err
	}
	page, err := w.reader.Page(ctx, backend.EventRange{Session: in.Session, Before: info.Seq + 1, Limit: in.Limit, Newest: true})
	if err != nil {
		return Snapshot{}, err
	}
	waits, err := w.cfg.Store.Queue(ctx, in.Session)
	if err != nil {
		return Snapshot{}, err
	}
	return Snapshot{Session: info, Events: page.Events, More: page.More, Draft: w.feed.Draft(in.Session), Queue: waits}, nil
}

func (w *Workbench) send(ctx context.Context, in SendRequest) (backend.Empty, error) {
	return backend.Empty{}, w.say(ctx, in)
}

// Send starts a turn and returns when it has begun. Its events arrive as
// envelopes. A text such as "/review main" uses the skill of the name, if there is one.
func (w *Workbench) Send(ctx context.Context, session, text string) error {
	info, err := w.session(ctx, session)
	if err != nil {
		return err
	}
	return w.say(ctx, SendRequest{Session: session, Text: text, Command: w.CommandOf(ctx, info, text)})
}

func (w *Workbench) say(ctx context.Context, in SendRequest) error {
	if strings.TrimSpace(in.Text) == "" {
		return backend.Problem(backend.ProblemMessageEmpty)
	}
	info, err := w.session(ctx, in.Session)
	if err != nil {
		return err
	}
	input, err := w.input(ctx, info, in.Text, in.Command)
	if err != nil {
		return err
	}
	return w.begin(ctx, info, runInput(input))
}

// continueTurn continues the newest turn where it was stopped (K-06).
func (w *Workbench) continueTurn(ctx context.Context, in SessionRef) (backend.Empty, error) {
	info, err := w.session(ctx, in.Session)
	if err != nil {
		return backend.Empty{}, err
	}
	if info.LastEnd == "" || info.LastEnd == agent.EndDone {
		return backend.Empty{}, backend.Problem(backend.ProblemTurnComplete)
	}
	return backend.Empty{}, w.begin(ctx, info, (*agent.Session).Continue)
}

// begin starts a turn and returns when it has begun.
func (w *Workbench) begin(ctx context.Context, info backend.SessionInfo, turn live.Turn) error {
	if err := w.providers.Ready(ctx, info.Settings.Provider); err != nil {
		return err
	}
	if err := w.project.CheckTree(info); err != nil { // it may have gone since the session was opened
		return err
	}
	if _, err := w.undo.Settled(ctx, info); err != nil {
		return err
	}
	w.prepare(info)
	return w.start(ctx, info.ID, turn)
}

// start starts a turn without checking the provider.
func (w *Workbench) start(ctx context.Context, id string, turn live.Turn) error {
	l, release, err := w.sessions.Open(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	return l.Start(turn)
}

// atRest returns a session without an open turn or command; see [live.Sessions.AtRest].
func (w *Workbench) atRest(ctx context.Context, session string) (backend.SessionInfo, error) {
	info, err := w.session(ctx, session)
	if err != nil {
		return info, err
	}
	return info, w.sessions.AtRest(ctx, info)
}

func (w *Workbench) interrupt(_ context.Context, in SessionRef) (backend.Empty, error) {
	w.Interrupt(in.Session)
	return backend.Empty{}, nil
}

// Interrupt ends a session's turn, if one runs here or has been requested, and
// those of the agents that it started. It does not wait for I/O.
func (w *Workbench) Interrupt(session string) {
	w.delegation.Interrupt(session)
}

func (w *Workbench) configure(ctx context.Context, in ConfigureRequest) (backend.SessionInfo, error) {
	if err := w.Configure(ctx, in.Session, in.Settings); err != nil {
		return backend.SessionInfo{}, err
	}
	info, err := w.session(ctx, in.Session)
	info.Settings = in.Settings
	return info, err
}

// Configure changes a session's settings; see [agent.Session.Configure].
func (w *Workbench) Configure(ctx context.Context, session string, set agent.Settings) error {
	set.Provider, set.Model = strings.TrimSpace(set.Provider), strings.TrimSpace(set.Model)
	if err := validSettings(set); err != nil {
		return err
	}
	l, release, err := w.sessions.Open(ctx, session)
	if err != nil {
		return err
	}
	defer release()
	before := l.Latest().Mode
	l.Configure(set)
	if set.Mode == before {
		return nil
	}
	return w.delegation.Tighten(ctx, session, set.Mode)
}

// Snapshot is what a page needs to show a session: the newest events and the
// content that is being streamed. Live envelopes continue from Seq.
type Snapshot struct {
	Session backend.SessionInfo `json:"session"`
	Events  []agent.Event       `json:"events,omitempty"`
	// More says that there are older events.
	More bool `json:"more,omitempty"`
	// Draft is what has been streamed since the last durable event.
	Draft feed.Draft `json:"draft"`
	// Queue lists the messages that wait for delivery.
	Queue []agent.Queued `json:"queue,omitempty"`
}

// OpenRequest is for conversation.open; Limit 0 means 200 events.
type OpenRequest struct {
	Session string `json:"session"`
	Limit   int    `json:"limit,omitempty"`
}

// EventRef names an event.
type EventRef = place.EventRef

// SendRequest is for conversation.send.
type SendRequest struct {
	Session string `json:"session"`
	Text    string `json:"text"`
	// Command is the skill that the text, as it was typed, uses.
	Command *backend.CommandCall `json:"command,omitempty"`
}

// ConfigureRequest is for conversation.configure.
type ConfigureRequest struct {
	Session  string         `json:"session"`
	Settings agent.Settings `json:"settings"`
}
