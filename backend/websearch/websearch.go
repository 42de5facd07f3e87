// Package websearch keeps which search of the web sessions use: a service with its
// address and key, or the search that a model's provider runs.
package websearch

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/websearch"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
)

// ByProvider is the choice of the search that the provider of a session's model runs, and
// Off that of none.
const (
	ByProvider = "provider"
	Off        = "off"
)

// SearchChoice is what the user chose.
type SearchChoice struct {
	// Engine is the id of a service, [ByProvider] or [Off]; empty means the first service
	// that is set up, and then the provider's.
	Engine string `json:"engine,omitempty"`
	// Address is that of SearXNG; empty means the one of the environment.
	Address string `json:"address,omitempty"`
}

// SearchState is what Settings show.
type SearchState struct {
	SearchChoice
	Services []SearchService `json:"services,omitempty"`
}

// SearchService says how a service is set up.
type SearchService struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Keyed bool   `json:"keyed"`
	// Source says where its key is from; empty if it has none.
	Source   backend.KeySource `json:"source,omitempty"`
	Variable string            `json:"variable"`
	Ready    bool              `json:"ready"`
}

// SearchChange is a new choice. Key is stored for the chosen service if it is not empty, and
// RemoveKey removes the stored one.
type SearchChange struct {
	SearchChoice
	Key       string `json:"key,omitempty"`
	RemoveKey bool   `json:"remove_key,omitempty"`
}

// Config is what a Chooser needs.
type Config struct {
	Keys     backend.KeyStore
	Settings backend.Settings
	Getenv   func(string) string
}

// Chooser keeps the choice. It is safe for concurrent use.
type Chooser struct{ cfg Config }

// New returns a Chooser.
func New(cfg Config) *Chooser { return &Chooser{cfg} }

// Register registers the methods of the page.
func (c *Chooser) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "websearch.get", c.Get)
	dispatch.Handle(d, "websearch.set", c.Set)
}

const (
	setting = "websearch"
	maxKey  = 500
)

// entry is the name under which the key of a service is stored.
func entry(s websearch.Service) string { return "websearch." + s.ID }

func (c *Chooser) choice(ctx context.Context) (SearchChoice, error) {
	text, err := c.cfg.Settings.Setting(ctx, setting)
	if err != nil || text == "" {
		return SearchChoice{}, err
	}
	var choice SearchChoice
	if err := json.Unmarshal([]byte(text), &choice); err != nil {
		return SearchChoice{}, fmt.Errorf("read the choice of a web search: %w", err)
	}
	return choice, nil
}

// key returns the key of a service.
func (c *Chooser) key(s websearch.Service) (string, backend.KeySource, error) {
	if !s.Keyed {
		return "", "", nil
	}
	if key := strings.TrimSpace(c.cfg.Getenv(s.Variable)); key != "" {
		return key, backend.KeyFromEnvironment, nil
	}
	return c.cfg.Keys.Key(entry(s))
}

func (c *Chooser) address(s websearch.Service, choice SearchChoice) string {
	if s.Address != "" {
		return ""
	}
	return cmp.Or(choice.Address, c.cfg.Getenv(s.Variable))
}

// Get returns what is set up.
func (c *Chooser) Get(ctx context.Context, _ backend.Empty) (SearchState, error) {
	choice, err := c.choice(ctx)
	if err != nil {
		return SearchState{}, err
	}
	state := SearchState{SearchChoice: choice}
	for _, s := range websearch.Services() {
		key, source, err := c.key(s)
		if err != nil {
			return SearchState{}, backend.Problem(backend.ProblemKeyUnread, s.Title).Because(err)
		}
		state.Services = append(state.Services, SearchService{
			ID: s.ID, Title: s.Title, Keyed: s.Keyed, Source: source, Variable: s.Variable, Ready: s.Keyed && key != "" || !s.Keyed && c.address(s, choice) != "",
		})
	}
	return state, nil
}

// Set stores a choice and a key, both or neither.
func (c *Chooser) Set(ctx context.Context, in SearchChange) (SearchState, error) {
	services := websearch.Services()
	at := slices.IndexFunc(services, func(s websearch.Service) bool { return s.ID == in.Engine })
	in.Address = strings.TrimSpace(in.Address)
	switch {
	case at < 0 && !slices.Contains([]string{"", ByProvider, Off}, in.Engine), at < 0 && (in.Key != "" || in.RemoveKey):
		return SearchState{}, backend.Problem(backend.ProblemArguments, "websearch.set")
	case in.Address != "":
		if _, err := (websearch.Service{Title: "SearXNG"}).Engine(in.Address, ""); err != nil {
			return SearchState{}, backend.Problem(backend.ProblemAddressInvalid).Because(err)
		}
	}
	if at >= 0 && services[at].Keyed {
		if err := c.store(services[at], in); err != nil {
			return SearchState{}, err
		}
	}
	text, err := json.Marshal(in.SearchChoice)
	if err != nil {
		return SearchState{}, err
	}
	if err := c.cfg.Settings.SetSetting(ctx, setting, string(text)); err != nil {
		return SearchState{}, err
	}
	return c.Get(ctx, backend.Empty{})
}

func (c *Chooser) store(s websearch.Service, in SearchChange) error {
	key := strings.TrimSpace(in.Key)
	switch {
	case len(key) > maxKey || strings.ContainsAny(key, "\r\n"):
		return backend.Problem(backend.ProblemArguments, "websearch.set")
	case key != "":
		return c.cfg.Keys.SetKey(entry(s), key)
	case in.RemoveKey:
		return c.cfg.Keys.RemoveKey(entry(s))
	}
	return nil
}

// Engine returns the engine that the user chose. With byProvider set, the provider of the
// session's model is to search. The error is [websearch.ErrUnset] if nothing is set up.
func (c *Chooser) Engine(ctx context.Context) (engine websearch.Engine, byProvider bool, err error) {
	choice, err := c.choice(ctx)
	if err != nil {
		return engine, false, err
	}
	switch choice.Engine {
	case Off:
		return engine, false, websearch.ErrUnset
	case ByProvider:
		return engine, true, nil
	}
	for _, s := range websearch.Services() {
		if choice.Engine != "" && choice.Engine != s.ID {
			continue
		}
		key, _, err := c.key(s)
		if err != nil {
			return engine, false, fmt.Errorf("read the key of %s: %w", s.Title, err)
		}
		if address := c.address(s, choice); s.Keyed && key != "" || !s.Keyed && address != "" {
			engine, err = s.Engine(address, key)
			return engine, false, err
		}
	}
	if choice.Engine == "" {
		return engine, true, nil
	}
	return engine, false, websearch.ErrUnset
}
