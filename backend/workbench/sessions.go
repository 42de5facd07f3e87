package workbench

import (
	"context"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/place"
	"github.com/oklog/ulid/v2"
)

const (
	defaultList = 50
	maxList     = 500
)

func (w *Workbench) listSessions(ctx context.Context, in SessionListRequest) (backend.SessionPage, error) {
	q := backend.SessionQuery{Folder: w.cfg.Folder, SessionFilter: in.Filter, UrgentFirst: in.UrgentFirst, Limit: min(in.Limit, maxList)}
	if q.Limit <= 0 {
		q.Limit = defaultList
	}
	if in.Everywhere {
		q.Folder = ""
	}
	if in.After != nil {
		q.After = *in.After
	}
	return w.cfg.Store.SessionPage(ctx, q)
}

// getSession returns a session as its list shows it.
func (w *Workbench) getSession(ctx context.Context, in SessionRef) (backend.SessionInfo, error) {
	return w.session(ctx, in.Session)
}

// createSession creates a session with the user's usual settings.
func (w *Workbench) createSession(ctx context.Context, _ backend.Empty) (backend.SessionInfo, error) {
	settings, err := w.NewSessionSettings(ctx)
	if err != nil {
		return backend.SessionInfo{}, err
	}
	return w.CreateSession(ctx, settings)
}

// CreateSession creates a session with the given settings.
func (w *Workbench) CreateSession(ctx context.Context, settings agent.Settings) (backend.SessionInfo, error) {
	return w.create(ctx, newID(), settings, nil)
}

// newID returns an id for a session.
func newID() string { return ulid.Make().String() }

func (w *Workbench) create(ctx context.Context, id string, settings agent.Settings, helper *agent.Helper) (backend.SessionInfo, error) {
	if err := validSettings(settings); err != nil {
		return backend.SessionInfo{}, err
	}
	now := time.Now().UnixMilli()
	info := backend.SessionInfo{
		ID: id, Folder: w.cfg.Folder, State: agent.StateIdle, Settings: settings,
		CreatedAt: now, UpdatedAt: now, Usage: llm.Usage{Known: true}, Helper: helper,
	}
	if err := w.cfg.Store.CreateSession(ctx, info); err != nil {
		return backend.SessionInfo{}, err
	}
	start := w.sessionStart(false)
	start.Helper = helper
	for _, p := range []agent.Payload{start, agent.SettingsChange{Settings: settings}} {
		if err := w.publish(ctx, info.ID, p); err != nil {
			return backend.SessionInfo{}, err
		}
	}
	if settings.Mode == agent.ModeBypass {
		if err := w.permitBypass(ctx, info.ID); err != nil {
			return backend.SessionInfo{}, err
		}
	}
	return w.cfg.Store.Session(ctx, info.ID)
}

func (w *Workbench) costs(ctx context.Context, in CostsRequest) (backend.CostSummary, error) {
	return w.cfg.Store.Costs(ctx, w.cfg.Folder, in.Session)
}

func (w *Workbench) sessionStart(resumed bool) agent.SessionStart {
	return agent.SessionStart{Folder: w.cfg.Folder, Version: w.cfg.Version, Resumed: resumed}
}

func (w *Workbench) renameSession(ctx context.Context, in RenameRequest) (backend.SessionInfo, error) {
	title := backend.TitleFrom(in.Title)
	if title == "" {
		return backend.SessionInfo{}, backend.Problem(backend.ProblemSessionUnnamed)
	}
	if _, err := w.session(ctx, in.Session); err != nil {
		return backend.SessionInfo{}, err
	}
	if err := w.publish(ctx, in.Session, agent.Title{Text: title, ByUser: true}); err != nil {
		return backend.SessionInfo{}, err
	}
	return w.cfg.Store.Session(ctx, in.Session)
}

// validSettings returns an error for settings that no session could run with.
func validSettings(s agent.Settings) error {
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

// SessionRef names a session.
type SessionRef = place.SessionRef

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
