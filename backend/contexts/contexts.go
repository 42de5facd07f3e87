package contexts

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/contextinfo"
	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/recall"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/internal/text"
)

// Log reads events of sessions.
type Log interface {
	Events(context.Context, backend.EventRange) ([]agent.Event, error)
}

// Session is an open session.
type Session = contextinfo.Session

// Action is done with a session at rest. record stores an event.
type Action func(ctx context.Context, s *agent.Session, info backend.SessionInfo, record func(agent.Payload) error) error

// Config is what Contexts needs of its host. All of it must be safe for concurrent use.
type Config struct {
	Log Log
	// Session returns a session of the project.
	Session func(ctx context.Context, id string) (backend.SessionInfo, error)
	// Open opens a session until release is called.
	Open func(ctx context.Context, id string) (s Session, release func(), err error)
	// Alone does something with a session at rest, and returns its error.
	Alone func(ctx context.Context, session string, do Action) error
	// Compact begins to replace a session's conversation by a summary.
	Compact func(ctx context.Context, session, summary string) error
	// Settings keeps the user's choices.
	Settings backend.Settings
	// Keys returns the keys of all providers.
	Keys func(context.Context) ([]string, error)
	Now  func() time.Time
	// Folder is the project's, and Home the folder of the user's own document.
	Folder, Home string
	// Place returns where a session works.
	Place func(ctx context.Context, session string) (string, error)
	// ReadOnly refuses to change files.
	ReadOnly bool
}

// Contexts shows and changes the contexts of sessions. It is safe for concurrent use.
type Contexts struct {
	cfg Config
	// folding is held while a log is folded or its fold used; one at a time, because a
	// long one takes a while.
	folding chan struct{}
	folded  folded
	saving  sync.Mutex // while a file of the memory is replaced
}

// folded is the fold of the session that was read last.
type folded struct {
	session     string
	rewound     []backend.Span
	uncompacted []int64
	log         *contextinfo.Log
}

// New returns Contexts.
func New(cfg Config) *Contexts { return &Contexts{cfg: cfg, folding: make(chan struct{}, 1)} }

// Register registers the methods of the page.
func (c *Contexts) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "conversation.breakdown", c.Breakdown)
	dispatch.Handle(d, "context.info", c.Info)
	dispatch.Handle(d, "context.report", c.Report)
	dispatch.Handle(d, "context.item", c.Item)
	dispatch.Handle(d, "context.mark", c.Mark)
	dispatch.Handle(d, "context.preview", c.Preview)
	dispatch.Handle(d, "context.compact", c.Compact)
	dispatch.Handle(d, "context.undo", c.Undo)
	dispatch.Handle(d, "context.room", c.Room)
	dispatch.Handle(d, "context.setRoom", c.SetRoom)
	dispatch.Handle(d, "memory.list", c.Memories)
	dispatch.Handle(d, "memory.set", c.SetMemory)
	dispatch.Handle(d, "memory.read", c.ReadMemory)
	dispatch.Handle(d, "memory.save", c.SaveMemory)
}

// ContextRequest is for context.info and conversation.breakdown.
type ContextRequest struct {
	Session string `json:"session"`
	// Page says which items are wanted; of a breakdown none are.
	Page contextinfo.ContextPage `json:"page,omitzero"`
}

// Info says what fills a session's context, with a page of its items.
func (c *Contexts) Info(ctx context.Context, in ContextRequest) (info contextinfo.ContextInfo, err error) {
	err = c.read(ctx, in.Session, func(s contextinfo.Session, log *contextinfo.Log) error {
		info = log.Info(ctx, s, in.Page, c.cfg.Now())
		return nil
	})
	return info, err
}

// Breakdown says what fills a session's context, by kind.
func (c *Contexts) Breakdown(ctx context.Context, in ContextRequest) (b contextinfo.ContextBreakdown, err error) {
	err = c.read(ctx, in.Session, func(s contextinfo.Session, log *contextinfo.Log) error {
		b = contextinfo.Breakdown(ctx, s, log.Transcript())
		return nil
	})
	return b, err
}

// ContextItemRequest names an item.
type ContextItemRequest struct {
	Session string `json:"session"`
	ID      string `json:"id"`
}

// ContextItemText is what an item says, of which Rest bytes are left out.
type ContextItemText struct {
	Text string `json:"text"`
	Rest int    `json:"rest,omitempty"`
}

// maxItem limits what is shown of an item, in bytes.
const maxItem = 100_000

// Item returns what an item says.
func (c *Contexts) Item(ctx context.Context, in ContextItemRequest) (out ContextItemText, err error) {
	err = c.read(ctx, in.Session, func(_ contextinfo.Session, log *contextinfo.Log) error {
		for it := range log.Transcript().Conversation().Backward() {
			if it.ID() == in.ID {
				said := it.Text()
				out.Text = text.Head(said, maxItem)
				out.Rest = len(said) - len(out.Text)
				return nil
			}
		}
		return backend.Problem(backend.ProblemContextItem)
	})
	return out, err
}

// ContextMarkRequest is for context.mark.
type ContextMarkRequest struct {
	Session string         `json:"session"`
	Mark    contextir.Mark `json:"mark"`
	Items   []string       `json:"items,omitempty"`
}

// maxMarked limits the items that are marked at once.
const maxMarked = 1000

// Mark pins, drops or restores items.
func (c *Contexts) Mark(ctx context.Context, in ContextMarkRequest) (backend.Empty, error) {
	marks := []contextir.Mark{contextir.MarkPin, contextir.MarkUnpin, contextir.MarkDrop, contextir.MarkRestore}
	if !slices.Contains(marks, in.Mark) || len(in.Items) == 0 || len(in.Items) > maxMarked {
		return backend.Empty{}, backend.Problem(backend.ProblemArguments, "context.mark")
	}
	return backend.Empty{}, c.cfg.Alone(ctx, in.Session, func(_ context.Context, s *agent.Session, _ backend.SessionInfo, record func(agent.Payload) error) error {
		if s.Transcript().Conversation().Clone().Mark(in.Mark, in.Items...) < len(in.Items) {
			return backend.Problem(backend.ProblemContextItem)
		}
		return record(agent.ContextMarked{Mark: in.Mark, Items: in.Items})
	})
}

// read passes a session and the fold of its log to use, which must not keep them.
func (c *Contexts) read(ctx context.Context, session string, use func(contextinfo.Session, *contextinfo.Log) error) error {
	info, err := c.cfg.Session(ctx, session)
	if err != nil {
		return err
	}
	s, release, err := c.cfg.Open(ctx, session)
	if err != nil {
		return err
	}
	defer release()
	select {
	case c.folding <- struct{}{}:
		defer func() { <-c.folding }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	log, err := c.fold(ctx, info)
	if err != nil {
		return err
	}
	return use(s, log)
}

// Recall returns the tool that searches the conversation of a session, with what was
// taken out of it to make room.
func (c *Contexts) Recall(session string) agent.Tool {
	return recall.Tool(func(ctx context.Context, apply func(agent.Event, bool)) error {
		info, err := c.cfg.Session(ctx, session)
		if err != nil {
			return err
		}
		return c.events(ctx, info, 0, apply)
	})
}

// foldPage is how many events are read at once.
const foldPage = 1000

// fold returns the fold of a session's log up to what info knows.
func (c *Contexts) fold(ctx context.Context, info backend.SessionInfo) (*contextinfo.Log, error) {
	f := c.folded
	c.folded = folded{} // an error leaves nothing half done
	if f.session != info.ID || f.log.Seq() > info.Seq || !reflect.DeepEqual(f.rewound, info.Rewound) || !slices.Equal(f.uncompacted, info.Uncompacted) {
		f = folded{session: info.ID, rewound: info.Rewound, uncompacted: info.Uncompacted, log: &contextinfo.Log{}}
	}
	if err := c.events(ctx, info, f.log.Seq(), f.log.Apply); err != nil {
		return nil, err
	}
	c.folded = f
	return f.log, nil
}

// events passes on the events of a session after a place, a page at a time.
func (c *Contexts) events(ctx context.Context, info backend.SessionInfo, after int64, apply func(agent.Event, bool)) error {
	for ; after < info.Seq; after += foldPage {
		events, err := c.cfg.Log.Events(ctx, backend.EventRange{Session: info.ID, After: after, Before: after + foldPage + 1})
		if err != nil {
			return err
		}
		for _, ev := range events {
			apply(ev, info.TookBack(ev.Seq))
		}
	}
	return nil
}

// price returns what a request cost by the host's prices; nil if they are not known.
func price(cfg agent.Config, by llm.Origin, u llm.Usage) *llm.Cost {
	return cfg.Facts.Price(by.Provider, by.Model, u, cfg.Now())
}
