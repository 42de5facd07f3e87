package websearch_test

import (
	"errors"
	"testing"

	"atelier.dev/atelier/agent/websearch"
	"atelier.dev/atelier/backend"
	chooser "atelier.dev/atelier/backend/websearch"
	"atelier.dev/atelier/storage"
	"atelier.dev/atelier/storage/keystore"
)

func newChooser(t *testing.T, env map[string]string) *chooser.Chooser {
	t.Helper()
	home := t.TempDir()
	store, err := storage.Open(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return chooser.New(chooser.Config{Keys: keystore.New(home), Settings: store, Getenv: func(name string) string { return env[name] }})
}

// OAS-310: what the user chose is used, else the first that is set up, else what the
// provider of the model runs; and nothing that is not set up.
func TestEngine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env        map[string]string
		changes    []chooser.SearchChange
		title      string
		byProvider bool
		unset      bool
	}{
		"nothing":                   {byProvider: true},
		"off":                       {env: map[string]string{"EXA_API_KEY": "k"}, changes: []chooser.SearchChange{{SearchChoice: chooser.SearchChoice{Engine: chooser.Off}}}, unset: true},
		"the provider's":            {env: map[string]string{"EXA_API_KEY": "k"}, changes: []chooser.SearchChange{{SearchChoice: chooser.SearchChoice{Engine: chooser.ByProvider}}}, byProvider: true},
		"from the environment":      {env: map[string]string{"TAVILY_API_KEY": "k", "EXA_API_KEY": "k"}, title: "Tavily"},
		"an address of the machine": {env: map[string]string{"SEARXNG_URL": "http://127.0.0.1:8080", "EXA_API_KEY": "k"}, title: "SearXNG"},
		"a key":                     {changes: []chooser.SearchChange{{SearchChoice: chooser.SearchChoice{Engine: "brave"}, Key: " k "}}, title: "Brave Search"},
		"a key, then another":       {changes: []chooser.SearchChange{{SearchChoice: chooser.SearchChoice{Engine: "brave"}, Key: "k"}, {SearchChoice: chooser.SearchChoice{Engine: "exa"}}}, unset: true},
		"a key that was removed":    {changes: []chooser.SearchChange{{SearchChoice: chooser.SearchChoice{Engine: "brave"}, Key: "k"}, {SearchChoice: chooser.SearchChoice{Engine: "brave"}, RemoveKey: true}}, unset: true},
		"an address":                {changes: []chooser.SearchChange{{SearchChoice: chooser.SearchChoice{Engine: "searxng", Address: " https://s.example "}}}, title: "SearXNG"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chooser := newChooser(t, c.env)
			for _, change := range c.changes {
				if _, err := chooser.Set(t.Context(), change); err != nil {
					t.Fatal(err)
				}
			}
			engine, byProvider, err := chooser.Engine(t.Context())
			if errors.Is(err, websearch.ErrUnset) != c.unset || err != nil && !c.unset || engine.Title != c.title || byProvider != c.byProvider {
				t.Errorf("%s, by the provider %t, %v", engine.Title, byProvider, err)
			}
		})
	}
}

// What cannot be used is refused, and nothing of it is stored.
func TestSet(t *testing.T) {
	t.Parallel()
	chooser1 := newChooser(t, nil)
	for _, change := range []chooser.SearchChange{
		{SearchChoice: chooser.SearchChoice{Engine: "google"}},
		{SearchChoice: chooser.SearchChoice{Engine: chooser.Off}, Key: "k"},
		{SearchChoice: chooser.SearchChoice{Engine: "searxng", Address: "file:///etc/passwd"}},
		{SearchChoice: chooser.SearchChoice{Engine: "brave"}, Key: "a\nb"},
	} {
		if _, err := chooser1.Set(t.Context(), change); err == nil {
			t.Errorf("%+v was stored", change)
		}
	}
	state, err := chooser1.Get(t.Context(), backend.Empty{})
	if err != nil || state.Engine != "" || state.Address != "" || len(state.Services) != 4 {
		t.Errorf("%+v, %v", state, err)
	}
	for _, s := range state.Services {
		if s.Ready || s.Source != "" {
			t.Errorf("%+v", s)
		}
	}
}
