package conversation

import (
	"context"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/backend/feed"
	"atelier.dev/atelier/backend/live"
	"atelier.dev/atelier/backend/place"
	"atelier.dev/atelier/backend/reading"
	"atelier.dev/atelier/backend/undoing"
)

// Config is what conversations work with. All fields are required.
type Config struct {
	Store    backend.Store
	Project  *place.Project
	Sessions *live.Sessions
	Undo     *undoing.Undo
	Reader   *reading.Reader
	Feed     *feed.Feed
	Host     Host
}

// Host knows what the input of a turn is, and what a turn needs.
type Host struct {
	// Ready returns an error if a provider cannot be asked.
	Ready func(ctx context.Context, provider string) error
	// Prepare makes what a session's first request needs, without waiting for it.
	Prepare func(backend.SessionInfo)
	// Input returns what a text begins: itself with what it mentions or, with a call, the
	// prompt of a skill.
	Input func(ctx context.Context, info backend.SessionInfo, text string, call *backend.CommandCall) (agent.Queued, error)
	// Commands returns the names of the skills that the user can call.
	Commands func(context.Context, backend.SessionInfo) []string
	// Interrupt ends the turns of a session and of the agents that it started.
	Interrupt func(session string)
	// Tighten gives the agents of a session a mode that is not looser than its own.
	Tighten func(ctx context.Context, session string, mode agent.Mode) error
}

// Conversations are those of a project's sessions. It is safe for concurrent use.
type Conversations struct{ cfg Config }

// New returns the conversations of a project.
func New(cfg Config) *Conversations { return &Conversations{cfg} }

// Register adds the methods of the page.
func (c *Conversations) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "conversation.open", c.open)
	dispatch.Handle(d, "conversation.send", c.send)
	dispatch.Handle(d, "conversation.continue", c.continueTurn)
	dispatch.Handle(d, "conversation.interrupt", c.interrupt)
	dispatch.Handle(d, "conversation.configure", c.configure)
	dispatch.Handle(d, "queue.add", c.addQueued)
	dispatch.Handle(d, "queue.edit", c.editQueued)
	dispatch.Handle(d, "queue.list", c.listQueued)
	dispatch.Handle(d, "queue.move", c.moveQueued)
	dispatch.Handle(d, "queue.remove", c.removeQueued)
	dispatch.Handle(d, "queue.run", c.runQueued)
	dispatch.Handle(d, "undo.resend", c.resend)
}

// open returns everything that a page needs to show a session. It
// reads the log before the draft: an event in between reaches the page as an
// envelope, whereas a draft older than the log could show text twice.
func (c *Conversations) open(ctx context.Context, in OpenRequest) (Snapshot, error) {
	info, err := c.cfg.Project.Session(ctx, in.Session)
	if err != nil {
		return Snapshot{}, err
	}
	if info, err = c.cfg.Undo.Settled(ctx, info); err != nil {
		return Snapshot{}, err
	}
	page, err := c.cfg.Reader.Page(ctx, backend.EventRange{Session: in.Session, Before: info.Seq + 1, Limit: in.Limit, Newest: true})
	if err != nil {
		return Snapshot{}, err
	}
	waits, err := c.cfg.Store.Queue(ctx, in.Session)
	if err != nil {
		return Snapshot{}, err
	}
	return Snapshot{Session: info, Events: page.Events, More: page.More, Draft: c.cfg.Feed.Draft(in.Session), Queue: waits}, nil
}

func (c *Conversations) send(ctx context.Context, in SendRequest) (backend.Empty, error) {
	return backend.Empty{}, c.Say(ctx, in)
}

// Say starts a turn and returns when it has begun. Its events arrive as envelopes.
func (c *Conversations) Say(ctx context.Context, in SendRequest) error {
	if strings.TrimSpace(in.Text) == "" {
		return backend.Problem(backend.ProblemMessageEmpty)
	}
	info, err := c.cfg.Project.Session(ctx, in.Session)
	if err != nil {
		return err
	}
	input, err := c.cfg.Host.Input(ctx, info, in.Text, in.Command)
	if err != nil {
		return err
	}
	return c.Begin(ctx, info, live.Input(input))
}

// continueTurn continues the newest turn where it was stopped (K-06).
func (c *Conversations) continueTurn(ctx context.Context, in place.SessionRef) (backend.Empty, error) {
	info, err := c.cfg.Project.Session(ctx, in.Session)
	if err != nil {
		return backend.Empty{}, err
	}
	if info.LastEnd == "" || info.LastEnd == agent.EndDone {
		return backend.Empty{}, backend.Problem(backend.ProblemTurnComplete)
	}
	return backend.Empty{}, c.Begin(ctx, info, (*agent.Session).Continue)
}

// Begin starts a turn and returns when it has begun.
func (c *Conversations) Begin(ctx context.Context, info backend.SessionInfo, turn live.Turn) error {
	if err := c.cfg.Host.Ready(ctx, info.Settings.Provider); err != nil {
		return err
	}
	if err := c.cfg.Project.CheckTree(info); err != nil { // it may have gone since the session was opened
		return err
	}
	if _, err := c.cfg.Undo.Settled(ctx, info); err != nil {
		return err
	}
	c.cfg.Host.Prepare(info)
	return c.Start(ctx, info.ID, turn)
}

// Start starts a turn without checking the provider.
func (c *Conversations) Start(ctx context.Context, id string, turn live.Turn) error {
	l, release, err := c.cfg.Sessions.Open(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	return l.Start(turn)
}

// AtRest returns a session without an open turn or command; see [live.Sessions.AtRest].
func (c *Conversations) AtRest(ctx context.Context, session string) (backend.SessionInfo, error) {
	info, err := c.cfg.Project.Session(ctx, session)
	if err != nil {
		return info, err
	}
	return info, c.cfg.Sessions.AtRest(ctx, info)
}

func (c *Conversations) interrupt(_ context.Context, in place.SessionRef) (backend.Empty, error) {
	c.cfg.Host.Interrupt(in.Session)
	return backend.Empty{}, nil
}

func (c *Conversations) configure(ctx context.Context, in ConfigureRequest) (backend.SessionInfo, error) {
	if err := c.Configure(ctx, in.Session, in.Settings); err != nil {
		return backend.SessionInfo{}, err
	}
	info, err := c.cfg.Project.Session(ctx, in.Session)
	info.Settings = in.Settings
	return info, err
}

// Configure changes a session's settings; see [agent.Session.Configure].
func (c *Conversations) Configure(ctx context.Context, session string, set agent.Settings) error {
	set.Provider, set.Model = strings.TrimSpace(set.Provider), strings.TrimSpace(set.Model)
	if err := ValidSettings(set); err != nil {
		return err
	}
	l, release, err := c.cfg.Sessions.Open(ctx, session)
	if err != nil {
		return err
	}
	defer release()
	before := l.Latest().Mode
	l.Configure(set)
	if set.Mode == before {
		return nil
	}
	return c.cfg.Host.Tighten(ctx, session, set.Mode)
}

// ValidSettings returns an error for settings that no session could run with.
func ValidSettings(s agent.Settings) error {
	switch {
	case !slices.Contains(agent.Modes(), s.Mode):
		return backend.Problem(backend.ProblemModeUnknown, string(s.Mode))
	case strings.TrimSpace(s.Provider) == "" || strings.TrimSpace(s.Model) == "":
		return backend.Problem(backend.ProblemModelUnchosen)
	case s.ThinkingTokens < 0 || s.Budget < 0:
		return backend.Problem(backend.ProblemLimitNegative)
	}
	return nil
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
