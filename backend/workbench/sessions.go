package workbench

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"github.com/oklog/ulid/v2"
)

func (w *Workbench) listSessions(ctx context.Context, _ backend.Empty) (SessionList, error) {
	list, err := w.cfg.Store.Sessions(ctx, w.cfg.Folder)
	return SessionList{Sessions: list}, err
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

// errNotDeleted answers the deletion of a session that is working, here or
// elsewhere.
var errNotDeleted = backend.Problem(backend.ProblemSessionUndeleted)

// deleteSession removes a session at rest and those that it started: all of
// them or none.
func (w *Workbench) deleteSession(ctx context.Context, in SessionRef) (backend.Empty, error) {
	info, err := w.session(ctx, in.Session)
	if err != nil {
		return backend.Empty{}, err
	}
	started, err := w.cfg.Store.Helpers(ctx, in.Session)
	if err != nil {
		return backend.Empty{}, err
	}
	ids := []string{in.Session}
	for _, h := range started {
		ids = append(ids, h.ID)
	}
	switch closed, err := w.sessions.CloseAtRest(ctx, ids); {
	case err != nil:
		return backend.Empty{}, err
	case !closed:
		return backend.Empty{}, errNotDeleted
	}
	for _, id := range ids {
		release, err := w.cfg.Store.Lease(id)
		if err != nil {
			return backend.Empty{}, errNotDeleted
		}
		defer release()
	}
	if err := w.cfg.Store.DeleteSessions(ctx, ids...); err != nil {
		return backend.Empty{}, err
	}
	if err := w.guard.Forget(ctx, ids...); err != nil {
		slog.Warn("could not remove the rules of deleted sessions", "err", err)
	}
	for _, id := range ids {
		if err := w.servers.ForgetSession(ctx, id); err != nil {
			slog.Warn("could not remove the switches of a deleted session", "err", err)
		}
		w.removeOutput(id)
		w.feed.Forget(id)
	}
	w.forgetTree(ctx, info)
	return backend.Empty{}, nil
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
type SessionRef struct {
	Session string `json:"session"`
}

// SessionList answers sessions.list, newest first.
type SessionList struct {
	Sessions []backend.SessionInfo `json:"sessions,omitempty"`
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
