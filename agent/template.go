package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
)

// Template is the shared configuration of many sessions: model, tools, gate,
// prompt and limits (COM-01). It never changes, so any goroutine can use it. The
// zero Template, and one without a function, configures none: opening one fails.
type Template struct {
	configure func(id string) (Config, error)
}

// NewTemplate returns a template that configures each session by a call of
// configure with the session's id. That call creates everything that belongs to
// one session: a gate that remembers grants, tools that remember what they
// read. Anything that configurations share must be safe for concurrent use, and
// so must configure.
func NewTemplate(configure func(id string) (Config, error)) *Template {
	return &Template{configure: configure}
}

// Overrides change a template for one runtime. Empty fields change nothing.
type Overrides struct {
	System string
	Limits *Limits
	Facts  ModelFacts
	// Options replace the template's options for the providers that they name.
	Options map[string]ProviderOptions
}

// apply changes a configuration.
func (o Overrides) apply(cfg *Config) {
	if o.System != "" && cfg.Profiles != nil {
		cfg.Profiles = prompted{cfg.Profiles, o.System}
	}
	if o.Limits != nil {
		cfg.Limits = *o.Limits
	}
	if o.Facts != nil {
		cfg.Facts = o.Facts
	}
	if len(o.Options) > 0 {
		merged := maps.Clone(cfg.Options)
		if merged == nil {
			merged = map[string]ProviderOptions{}
		}
		maps.Copy(merged, o.Options)
		cfg.Options = merged
	}
}

// Runtime creates sessions of a template with initial settings (COM-02). It may
// be used from any goroutine.
type Runtime struct {
	template  *Template
	settings  Settings
	overrides Overrides
}

// Runtime returns a runtime. Runtimes are independent of each other (COM-04).
func (t *Template) Runtime(settings Settings, o Overrides) *Runtime {
	return &Runtime{template: t, settings: settings, overrides: o}
}

// Session returns a session with its own state: a new one, or an earlier one
// rebuilt from its events (COM-03). For an empty id it creates one. Settings in
// the past override the runtime's.
func (r *Runtime) Session(id string, past ...Event) (*Session, error) {
	if id == "" {
		id = newID()
	}
	if r.template.configure == nil {
		return nil, errors.New("configure session: the template has no function that configures it")
	}
	cfg, err := r.template.configure(id)
	if err != nil {
		return nil, fmt.Errorf("configure session: %w", err)
	}
	r.overrides.apply(&cfg)
	cfg.ID = id
	s, err := New(cfg, past...)
	if err != nil {
		return nil, err
	}
	if s.transcript.Settings.Model == "" && r.settings.Model != "" {
		s.Configure(r.settings)
	}
	return s, nil
}

// Query asks once, in a temporary session (COM-02). Its error is as that of
// [Session.Prompt].
func (r *Runtime) Query(ctx context.Context, prompt string) (QueryResult, error) {
	return collect(r.QueryStream(ctx, prompt))
}

// QueryStream is Query, but yields every event.
func (r *Runtime) QueryStream(ctx context.Context, prompt string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s, err := r.Session("")
		if err != nil {
			yield(Event{}, err)
			return
		}
		s.Run(ctx, prompt)(yield)
	}
}
