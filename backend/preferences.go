package backend

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"atelier.dev/atelier/agent"
)

const preferencesSetting = "preferences"

func (w *Workbench) preferences(ctx context.Context, _ Empty) (Preferences, error) {
	var p Preferences
	stored, err := w.cfg.Store.Setting(ctx, preferencesSetting)
	if err != nil || stored == "" {
		return p, err
	}
	if err := json.Unmarshal([]byte(stored), &p); err != nil {
		return p, fmt.Errorf("read preferences: %w", err)
	}
	return p, nil
}

func (w *Workbench) setPreferences(ctx context.Context, p Preferences) (Preferences, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return p, fmt.Errorf("encode preferences: %w", err)
	}
	return p, w.cfg.Store.SetSetting(ctx, preferencesSetting, string(b))
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
