package backend

import (
	"context"
	"fmt"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"github.com/oklog/ulid/v2"
)

func (w *Workbench) listSessions(ctx context.Context, _ Empty) (SessionList, error) {
	list, err := w.cfg.Store.Sessions(ctx, w.cfg.Folder)
	return SessionList{Sessions: list}, err
}

// createSession makes a session with the user's usual settings.
func (w *Workbench) createSession(ctx context.Context, _ Empty) (SessionInfo, error) {
	settings, err := w.NewSessionSettings(ctx)
	if err != nil {
		return SessionInfo{}, err
	}
	return w.CreateSession(ctx, settings)
}

// CreateSession makes a session with the given settings.
func (w *Workbench) CreateSession(ctx context.Context, settings agent.Settings) (SessionInfo, error) {
	return w.create(ctx, settings, nil)
}

func (w *Workbench) create(ctx context.Context, settings agent.Settings, helper *Helper) (SessionInfo, error) {
	if err := validSettings(settings); err != nil {
		return SessionInfo{}, err
	}
	now := time.Now().UnixMilli()
	info := SessionInfo{
		ID: ulid.Make().String(), Folder: w.cfg.Folder, State: agent.StateIdle, Settings: settings,
		CreatedAt: now, UpdatedAt: now, Usage: llm.Usage{Known: true}, Helper: helper,
	}
	if err := w.cfg.Store.CreateSession(ctx, info); err != nil {
		return SessionInfo{}, err
	}
	for _, p := range []agent.Payload{w.sessionStart(false), agent.SettingsChange{Settings: settings}} {
		if err := w.publish(ctx, info.ID, p); err != nil {
			return SessionInfo{}, err
		}
	}
	if settings.Mode == agent.ModeBypass {
		if err := w.permitBypass(ctx, info.ID); err != nil {
			return SessionInfo{}, err
		}
	}
	return w.cfg.Store.Session(ctx, info.ID)
}

func (w *Workbench) costs(ctx context.Context, in CostsRequest) (CostSummary, error) {
	return w.cfg.Store.Costs(ctx, w.cfg.Folder, in.Session)
}

func (w *Workbench) sessionStart(resumed bool) agent.SessionStart {
	return agent.SessionStart{Folder: w.cfg.Folder, Version: w.cfg.Version, Resumed: resumed}
}

func (w *Workbench) renameSession(ctx context.Context, in RenameRequest) (SessionInfo, error) {
	title := titleFrom(in.Title)
	if title == "" {
		return SessionInfo{}, &Error{Code: CodeInvalid, Message: "A session needs a name.", Kept: "It keeps the one it has."}
	}
	if _, err := w.session(ctx, in.Session); err != nil {
		return SessionInfo{}, err
	}
	if err := w.publish(ctx, in.Session, agent.Title{Text: title, ByUser: true}); err != nil {
		return SessionInfo{}, err
	}
	return w.cfg.Store.Session(ctx, in.Session)
}

// errNotDeleted answers the deletion of a session that works, here or elsewhere.
var errNotDeleted = &Error{
	Code: CodeBusy, Message: "This session, or an agent that it started, is working and cannot be deleted now.",
	Kept: "Nothing was deleted.", Next: "Stop it first.",
}

// deleteSession removes a session at rest and those that it started: all of
// them, or none.
func (w *Workbench) deleteSession(ctx context.Context, in SessionRef) (Empty, error) {
	if _, err := w.session(ctx, in.Session); err != nil {
		return Empty{}, err
	}
	started, err := w.cfg.Store.Helpers(ctx, in.Session)
	if err != nil {
		return Empty{}, err
	}
	ids := []string{in.Session}
	for _, h := range started {
		ids = append(ids, h.ID)
	}
	if err := w.closeForDeletion(ctx, ids); err != nil {
		return Empty{}, err
	}
	for _, id := range ids {
		release, err := w.cfg.Store.Lease(id)
		if err != nil {
			return Empty{}, errNotDeleted
		}
		defer release()
	}
	if err := w.cfg.Store.DeleteSessions(ctx, ids...); err != nil {
		return Empty{}, err
	}
	for _, id := range ids {
		w.removeOutput(id)
		w.feed.forget(id)
	}
	return Empty{}, nil
}

// validSettings refuses what no session could run with.
func validSettings(s agent.Settings) error {
	for _, m := range agent.Modes() {
		if m == s.Mode {
			if strings.TrimSpace(s.Provider) == "" || strings.TrimSpace(s.Model) == "" {
				return &Error{Code: CodeNoModel, Message: "No model is chosen.", Next: "Choose one in the toolbar."}
			}
			if s.ThinkingTokens < 0 || s.Budget < 0 {
				return &Error{Code: CodeInvalid, Message: "A limit is less than nothing.", Kept: "The settings were not changed.", Next: "Leave it out for no limit."}
			}
			return nil
		}
	}
	return &Error{Code: CodeInvalid, Message: fmt.Sprintf("There is no permission mode %q.", s.Mode)}
}
