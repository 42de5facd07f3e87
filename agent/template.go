package agent

import (
	"context"
	"fmt"
	"iter"
	"maps"
)

// Template is what many sessions have in common: model, tools, gate, prompt
// and limits (COM-01). It never changes, so it can be used from any goroutine.
type Template struct {
	configure func(id string) (Config, error)
}

// NewTemplate returns a template whose sessions are configured by configure. It
// is called once for each session, with the session's id, and makes there what
// belongs to one session: a gate that remembers grants, tools that remember what
// they read. What configurations share has to be safe for concurrent use. So has
// configure.
func NewTemplate(configure func(id string) (Config, error)) *Template {
	return &Template{configure: configure}
}

// Overrides change what a template says, for one runtime. Empty fields change
// nothing.
type Overrides struct {
	System string
	Limits *Limits
	Facts  Facts
	// Options take the place of the template's for the providers that they name.
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

// Runtime makes sessions of a template with the settings that they begin with
// (COM-02). It may be used from any goroutine.
type Runtime struct {
	template  *Template
	settings  Settings
	overrides Overrides
}

// Runtime returns a runtime, any number of which are independent of each other
// (COM-04).
func (t *Template) Runtime(settings Settings, o Overrides) *Runtime {
	return &Runtime{template: t, settings: settings, overrides: o}
}

// Session returns a session of its own state: a new one, or with the events of
// an earlier one the same again (COM-03). An empty id is made up. The settings
// of a past count before the runtime's.
func (r *Runtime) Session(id string, past ...Event) (*Session, error) {
	if id == "" {
		id = newID()
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
	if s.transcript.Settings.Model == "" {
		s.Configure(r.settings)
	}
	return s, nil
}

// Query asks once, in a session of its own that is kept nowhere (COM-02).
func (r *Runtime) Query(ctx context.Context, prompt string) (QueryResult, error) {
	return collect(r.QueryStream(ctx, prompt))
}

// QueryStream is Query with every event.
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
