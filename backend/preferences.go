package backend

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/tool"
)

const preferencesSetting = "preferences"

// preferences returns the stored ones, with the model that new sessions begin
// with as the environment would have it.
func (w *Workbench) preferences(ctx context.Context, _ Empty) (Preferences, error) {
	p, err := w.storedPreferences(ctx)
	if err != nil {
		return p, err
	}
	e := w.providers.environment()
	if s := e.over(p.NewSession, w.picked.Load()); s != p.NewSession && w.providers.ready(ctx, e.provider) == nil {
		p.NewSession = s
	}
	return p, nil
}

// storedPreferences returns what the user chose; the defaults where that is
// damaged, until the user chooses again.
func (w *Workbench) storedPreferences(ctx context.Context) (Preferences, error) {
	return storedPreferences(ctx, w.cfg.Store)
}

func storedPreferences(ctx context.Context, store Store) (Preferences, error) {
	stored, err := store.Setting(ctx, preferencesSetting)
	var e *Error
	if errors.As(err, &e) && e.Code == CodeStoreCorrupt {
		slog.Warn("the stored preferences are damaged; the defaults hold", "err", err)
		return Preferences{Damaged: true}, nil
	}
	if err != nil || stored == "" {
		return Preferences{}, err
	}
	var p Preferences
	if err := json.Unmarshal([]byte(stored), &p); err != nil {
		slog.Warn("the stored preferences cannot be read; the defaults hold", "err", err)
		return Preferences{Damaged: true}, nil
	}
	if p.NewSession.Mode == agent.ModeBypass { // stored by an earlier version
		p.NewSession.Mode = agent.ModeDefault
	}
	return p, nil
}

// setPreferences stores what the user chose. What the environment chose is not
// stored, and no longer wins once the user picks something else.
func (w *Workbench) setPreferences(ctx context.Context, p Preferences) (Preferences, error) {
	if limit := int(tool.MaxCommandTimeout / time.Second); p.CommandTimeout < 0 || p.CommandTimeout > limit {
		return p, &Error{
			Code: CodeInvalid, Message: fmt.Sprintf("A command's time limit is from 1 to %d seconds.", limit),
			Kept: "Your settings were not changed.", Next: "Leave it out for each model's own.",
		}
	}
	if _, known := policies[p.Compact]; !known {
		return p, &Error{Code: CodeInvalid, Message: fmt.Sprintf("%q is no time to compact at.", p.Compact), Kept: "Your settings were not changed."}
	}
	if p.NewSession.Mode == agent.ModeBypass {
		return p, &Error{
			Code: CodeInvalid, Message: "New sessions cannot begin with everything allowed.",
			Kept: "Your settings were not changed.", Next: "Choose it in the session that needs it; it holds there until Atelier ends.",
		}
	}
	shown, err := w.preferences(ctx, Empty{})
	if err != nil {
		return p, err
	}
	p.Damaged = false
	stored := p
	if p.NewSession != shown.NewSession {
		w.picked.Store(true)
	} else if before, err := w.storedPreferences(ctx); err == nil {
		stored.NewSession = before.NewSession
	}
	b, err := json.Marshal(stored)
	if err != nil {
		return p, fmt.Errorf("encode preferences: %w", err)
	}
	return p, w.cfg.Store.SetSetting(ctx, preferencesSetting, string(b))
}

// commandTimeout is the user's time limit for commands in the foreground that
// name none; 0 leaves each model its default (K-01).
func (w *Workbench) commandTimeout() time.Duration {
	p, err := w.storedPreferences(w.ctx)
	if err != nil {
		slog.Warn("read the command timeout", "err", err)
		return 0
	}
	return time.Duration(p.CommandTimeout) * time.Second
}

// NewSessionSettings is what a new session begins with: what the user chose
// last, as far as it can still be used.
func (w *Workbench) NewSessionSettings(ctx context.Context) (agent.Settings, error) {
	p, err := w.preferences(ctx, Empty{})
	if err != nil {
		return agent.Settings{}, err
	}
	s := p.NewSession
	s.Mode = cmp.Or(s.Mode, agent.ModeDefault)
	if s.Model == "" || w.providers.ready(ctx, s.Provider) != nil {
		s.Provider, s.Model = w.providers.first(ctx)
		s.Effort = ""
	}
	return s, nil
}

// openLink shows a web address outside Atelier.
func (w *Workbench) openLink(_ context.Context, in LinkRequest) (Empty, error) {
	u, err := url.Parse(in.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		return Empty{}, &Error{Code: CodeInvalid, Message: "This link is not opened: it is no plain web address.", Details: in.URL}
	}
	if w.cfg.OpenLink == nil {
		return Empty{}, &Error{Code: CodeInvalid, Message: "Links open in your own browser here."}
	}
	return Empty{}, w.cfg.OpenLink(u.String())
}
