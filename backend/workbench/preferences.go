package workbench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/tool"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/contexts"
	"atelier.dev/atelier/backend/editors"
	"atelier.dev/atelier/backend/toolbox"
)

// preferences returns the stored preferences, with the environment's model for
// new sessions if that takes precedence.
func (w *Workbench) preferences(ctx context.Context, _ backend.Empty) (backend.Preferences, error) {
	p, err := backend.StoredPreferences(ctx, w.cfg.Store)
	if err != nil {
		return p, err
	}
	p.NewSession = w.providers.Preferred(ctx, p.NewSession, w.choices.picked.Load())
	return p, nil
}

// choices has what the workbench knows of the user's choices besides what is
// stored.
type choices struct {
	picked atomic.Bool // the user has picked the settings of new sessions
	// changing is held while preferences are changed, so that no change is lost
	// between the reading and the writing of another.
	changing chan struct{}
}

// PreferencesChange is the difference between two states of the preferences of one
// page. Another page may have changed others since.
type PreferencesChange struct {
	Before backend.Preferences `json:"before"`
	After  backend.Preferences `json:"after"`
}

// changePreferences makes a change in the stored preferences, and returns them. It
// is one call, so that a page that is closed or loaded again right after a change
// loses none.
func (w *Workbench) changePreferences(ctx context.Context, c PreferencesChange) (backend.Preferences, error) {
	select {
	case w.choices.changing <- struct{}{}:
		defer func() { <-w.choices.changing }()
	case <-ctx.Done():
		return c.After, context.Cause(ctx)
	}
	now, err := w.preferences(ctx, backend.Empty{})
	if err != nil {
		return c.After, err
	}
	changed, err := now.Changed(c.Before, c.After)
	if err != nil {
		return c.After, err
	}
	return w.setPreferences(ctx, changed)
}

// setPreferences stores the user's choices. The environment's choice is not
// stored, and no longer applies once the user picks something else.
func (w *Workbench) setPreferences(ctx context.Context, p backend.Preferences) (backend.Preferences, error) {
	if limit := int(tool.MaxCommandTimeout / time.Second); p.CommandTimeout < 0 || p.CommandTimeout > limit {
		return p, backend.Problem(backend.ProblemCommandTimeout, strconv.Itoa(limit))
	}
	if p.Patience < 0 || p.Patience > backend.MaxPatience {
		return p, backend.Problem(backend.ProblemPatience, strconv.Itoa(backend.MaxPatience))
	}
	if err := p.CheckAgents(); err != nil {
		return p, err
	}
	if !contexts.CanCompact(p.Compact) {
		return p, backend.Problem(backend.ProblemCompactUnknown, string(p.Compact))
	}
	if p.NewSession.Mode == agent.ModeBypass {
		return p, backend.Problem(backend.ProblemBypassByDefault)
	}
	if err := errors.Join(p.Fonts.Check(), toolbox.CheckOff(p.ToolsOff), p.CheckLanguages()); err != nil {
		return p, err
	}
	shown, err := w.preferences(ctx, backend.Empty{})
	if err != nil {
		return p, err
	}
	if p.Editor != "" && p.Editor != shown.Editor {
		if _, err := editors.Split(p.Editor); err != nil {
			return p, backend.Problem(backend.ProblemEditorInvalid, editors.PlaceInFile).Because(err)
		}
	}
	p.Damaged = false
	stored := p
	if p.NewSession != shown.NewSession {
		w.choices.picked.Store(true)
	} else if before, err := backend.StoredPreferences(ctx, w.cfg.Store); err == nil {
		stored.NewSession = before.NewSession
	}
	b, err := json.Marshal(stored)
	if err != nil {
		return p, fmt.Errorf("encode preferences: %w", err)
	}
	return p, w.cfg.Store.SetSetting(ctx, backend.PreferencesSetting, string(b))
}

// commandTimeout returns the user's default time limit for foreground commands;
// 0 leaves each model its default (K-01).
func (w *Workbench) commandTimeout() time.Duration {
	p, err := backend.StoredPreferences(w.ctx, w.cfg.Store)
	if err != nil {
		slog.Warn("could not read the command timeout", "err", err)
		return 0
	}
	return time.Duration(p.CommandTimeout) * time.Second
}

// NewSessionSettings returns the settings of a new session: the user's last
// choices, as far as they can still be used.
func (w *Workbench) NewSessionSettings(ctx context.Context) (agent.Settings, error) {
	p, err := w.preferences(ctx, backend.Empty{})
	if err != nil {
		return agent.Settings{}, err
	}
	s := p.NewSession
	s.Mode = cmp.Or(s.Mode, agent.ModeDefault)
	if s.Model == "" || w.providers.Ready(ctx, s.Provider) != nil {
		s.Provider, s.Model = w.providers.First(ctx)
		s.Effort = ""
	}
	return s, nil
}
