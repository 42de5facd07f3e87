package sessionlist

import (
	"context"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/backend/live"
	"atelier.dev/atelier/backend/place"
	"atelier.dev/atelier/backend/trees"
)

const (
	defaultList = 50
	maxList     = 500
)

// Config is what the list needs of the application.
type Config struct {
	Project  *place.Project
	Store    backend.Store
	Sessions *live.Sessions
	Trees    *trees.Trees
	// Search finds texts in the logs of the store; nil if nothing does.
	Search backend.Searcher
	// Publish stores and shows an event of a session from outside of its turns.
	Publish func(ctx context.Context, session string, p agent.Payload) error
	// Forget drops what is kept about removed sessions outside of their logs.
	Forget func(ctx context.Context, ids []string)
}

// List is the list of a project's sessions. It is safe for concurrent use.
type List struct {
	cfg     Config
	marking sync.Mutex // held while a session's marks change
}

// New returns a List.
func New(cfg Config) *List { return &List{cfg: cfg} }

// Register registers the methods of the list.
func (l *List) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "sessions.list", l.list)
	dispatch.Handle(d, "sessions.get", l.get)
	dispatch.Handle(d, "sessions.rename", l.rename)
	dispatch.Handle(d, "sessions.search", l.search)
	dispatch.Handle(d, "sessions.mark", l.mark)
	dispatch.Handle(d, "sessions.remove", l.Remove)
	dispatch.Handle(d, "costs.summary", l.costs)
}

func (l *List) list(ctx context.Context, in SessionListRequest) (backend.SessionPage, error) {
	q := backend.SessionQuery{Folder: l.cfg.Project.Dir, SessionFilter: in.Filter, UrgentFirst: in.UrgentFirst, Limit: min(in.Limit, maxList)}
	if q.Limit <= 0 {
		q.Limit = defaultList
	}
	if in.Everywhere {
		q.Folder = ""
	}
	if in.After != nil {
		q.After = *in.After
	}
	return l.cfg.Store.SessionPage(ctx, q)
}

// get returns a session as its list shows it.
func (l *List) get(ctx context.Context, in place.SessionRef) (backend.SessionInfo, error) {
	return l.cfg.Project.Session(ctx, in.Session)
}

func (l *List) costs(ctx context.Context, in CostsRequest) (backend.CostSummary, error) {
	return l.cfg.Store.Costs(ctx, l.cfg.Project.Dir, in.Session)
}

func (l *List) rename(ctx context.Context, in RenameRequest) (backend.SessionInfo, error) {
	title := backend.TitleFrom(in.Title)
	if title == "" {
		return backend.SessionInfo{}, backend.Problem(backend.ProblemSessionUnnamed)
	}
	if _, err := l.cfg.Project.Session(ctx, in.Session); err != nil {
		return backend.SessionInfo{}, err
	}
	if err := l.cfg.Publish(ctx, in.Session, agent.Title{Text: title, ByUser: true}); err != nil {
		return backend.SessionInfo{}, err
	}
	return l.cfg.Store.Session(ctx, in.Session)
}

// search finds texts in the sessions of this folder, or of all folders.
func (l *List) search(ctx context.Context, in SearchRequest) (backend.Found, error) {
	if l.cfg.Search == nil {
		return backend.Found{}, backend.Problem(backend.ProblemSearchMissing)
	}
	q := backend.Search{Text: in.Text, Session: in.Session, Folder: l.cfg.Project.Dir, Next: in.Next, Limit: in.Limit}
	if in.Everywhere {
		q.Folder = ""
	}
	return l.cfg.Search.Search(ctx, q)
}

// SessionListRequest is for sessions.list; Limit 0 means 50 sessions, without
// their agents. After is where the page before this one ended. Everywhere lists the
// sessions of all projects.
type SessionListRequest struct {
	Filter      backend.SessionFilter `json:"filter,omitzero"`
	UrgentFirst bool                  `json:"urgent_first,omitempty"`
	Everywhere  bool                  `json:"everywhere,omitempty"`
	After       *backend.SessionPlace `json:"after,omitempty"`
	Limit       int                   `json:"limit,omitempty"`
}

// RenameRequest is for sessions.rename.
type RenameRequest struct {
	Session string `json:"session"`
	Title   string `json:"title"`
}

// CostsRequest is for costs.summary; an empty session means all sessions of the
// project.
type CostsRequest struct {
	Session string `json:"session,omitempty"`
}

// SearchRequest is for sessions.search. Session limits it to one session and those
// that it started; Next is where an earlier reply said to go on.
type SearchRequest struct {
	Text       string `json:"text"`
	Everywhere bool   `json:"everywhere,omitempty"`
	Session    string `json:"session,omitempty"`
	Next       string `json:"next,omitempty"`
	Limit      int    `json:"limit,omitempty"`
}
