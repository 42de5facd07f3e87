package agent

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// Template is what many sessions have in common: model, tools, gate, prompt
// and limits (COM-01). It never changes, so it can be used from any goroutine.
type Template struct{ cfg Config }

// NewTemplate checks and keeps a configuration. ID is ignored; Now and NewID
// are the clock's and random ones where they are nil.
func NewTemplate(cfg Config) (*Template, error) {
	var missing []string
	for name, absent := range map[string]bool{
		"Model": cfg.Model == nil, "Profiles": cfg.Profiles == nil, "Gate": cfg.Gate == nil, "Approver": cfg.Approver == nil,
	} {
		if absent {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return nil, errors.New("make template: it needs " + strings.Join(missing, ", "))
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.NewID == nil {
		cfg.NewID = func() string { return ulid.Make().String() }
	}
	return &Template{cfg: cfg}, nil
}

// Overrides change what a template says, for one runtime. Empty fields change
// nothing.
type Overrides struct {
	System string
	Limits *Limits
	Facts  Facts
}

// Runtime makes sessions of a template with the settings that they begin with
// (COM-02). It may be used from any goroutine.
type Runtime struct {
	cfg      Config
	settings Settings
}

// Runtime returns a runtime, any number of which are independent of each other
// (COM-04).
func (t *Template) Runtime(settings Settings, o Overrides) *Runtime {
	cfg := t.cfg
	if o.System != "" {
		cfg.Profiles = prompted{cfg.Profiles, o.System}
	}
	if o.Limits != nil {
		cfg.Limits = *o.Limits
	}
	if o.Facts != nil {
		cfg.Facts = o.Facts
	}
	return &Runtime{cfg: cfg, settings: settings}
}

// Session returns a session of its own state: a new one, or with the events of
// an earlier one the same again (COM-03). An empty id is made up. The settings
// of a past count before the runtime's.
func (r *Runtime) Session(id string, past ...Event) *Session {
	cfg := r.cfg
	cfg.ID = id
	if id == "" {
		cfg.ID = cfg.NewID()
	}
	s := New(cfg, past...)
	if s.transcript.Settings.Model == "" {
		s.Configure(r.settings)
	}
	return s
}

// Query asks once, in a session of its own that is kept nowhere (COM-02).
func (r *Runtime) Query(ctx context.Context, prompt string) (QueryResult, error) {
	return r.Session("").Prompt(ctx, prompt)
}

// QueryStream is Query with every event.
func (r *Runtime) QueryStream(ctx context.Context, prompt string) iter.Seq2[Event, error] {
	return r.Session("").Run(ctx, prompt)
}
