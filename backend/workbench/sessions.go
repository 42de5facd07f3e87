package workbench

import (
	"context"
	"log/slog"
	"time"

	"github.com/oklog/ulid/v2"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/place"
)

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
	if err := conversation.ValidSettings(settings); err != nil {
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

func (w *Workbench) sessionStart(resumed bool) agent.SessionStart {
	return agent.SessionStart{Folder: w.cfg.Folder, Version: w.cfg.Version, Resumed: resumed}
}

// SessionRef names a session.
type SessionRef = place.SessionRef

// mayRun refuses sessions that cannot run here.
func (w *Workbench) mayRun(info backend.SessionInfo) error {
	if info.Marks.Deleted > 0 {
		return backend.Problem(backend.ProblemSessionDeleted)
	}
	return w.project.Owns(info)
}

// forget drops what is kept about a removed session and its agents outside their
// logs, and tells the pages.
func (w *Workbench) forget(ctx context.Context, ids []string) {
	if err := w.guard.Forget(ctx, ids...); err != nil {
		slog.Warn("could not remove the rules of removed sessions", "err", err)
	}
	if err := w.desk.Forget(ctx, ids...); err != nil {
		slog.Warn("could not remove the unsent texts of removed sessions", "err", err)
	}
	for _, id := range ids {
		if err := w.servers.ForgetSession(ctx, id); err != nil {
			slog.Warn("could not remove the switches of a removed session", "err", err)
		}
		w.delegation.Forget(id)
		w.removeOutput(id)
		w.feed.Forget(id)
	}
	w.feed.Publish(agent.Event{At: time.Now().UnixMilli(), Data: agent.SessionsChange{Removed: ids[0]}})
}
