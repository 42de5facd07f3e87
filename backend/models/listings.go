package models

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/moby/sys/atomicwriter"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/catalogue"
	"atelier.dev/atelier/agent/llm/provider"
)

const (
	// listingsFolder keeps the providers' lists of models, below the home
	// folder.
	listingsFolder = "models"
	// listingAge is how long a list is considered current.
	listingAge = 24 * time.Hour
	// maxListing limits the size of its file.
	maxListing = 8 << 20
)

// listing is a provider's list of models, and when it was fetched.
type listing struct {
	At time.Time `json:"at"`
	// Origin is where it was fetched from.
	Origin string            `json:"origin,omitempty"`
	Models []llm.ListedModel `json:"models"`
	index  map[string]int    // by id
}

func (l *listing) indexed() *listing {
	l.index = make(map[string]int, len(l.Models))
	for i, m := range l.Models {
		l.index[m.ID] = i
	}
	return l
}

// listings holds the newest list of each provider. Files keep them, so that
// windows and prices are known before a provider is asked, or while it does not
// answer. It is safe for concurrent use.
type listings struct {
	folder string
	mu     sync.Mutex
	byID   map[string]*kept
}

// kept is one provider's list, read from its file when it is first needed.
type kept struct {
	read sync.Once
	now  atomic.Pointer[listing]
}

func newListings(home string) *listings {
	return &listings{folder: filepath.Join(home, listingsFolder), byID: map[string]*kept{}}
}

func (l *listings) kept(provider string) *kept {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byID[provider] == nil {
		l.byID[provider] = &kept{}
	}
	return l.byID[provider]
}

// get returns the newest list of a provider at an origin; an empty one if there
// is none. An unreadable file counts as none.
func (l *listings) get(provider, origin string) *listing {
	k := l.kept(provider)
	k.read.Do(func() {
		got, err := l.load(provider)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			slog.Warn("could not read a provider's models", "provider", provider, "err", err)
		}
		if err == nil {
			k.now.CompareAndSwap(nil, got.indexed())
		}
	})
	if now := k.now.Load(); now != nil && now.Origin == origin {
		return now
	}
	return &listing{}
}

func (l *listings) file(provider string) string {
	return filepath.Join(l.folder, provider+".json")
}

func (l *listings) load(provider string) (*listing, error) {
	f, err := os.Open(l.file(provider))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := &listing{}
	if err := json.NewDecoder(io.LimitReader(f, maxListing)).Decode(out); err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	return out, nil
}

// put keeps a list. If it cannot be written, it holds for this process.
func (l *listings) put(provider string, got *listing) {
	l.kept(provider).now.Store(got.indexed())
	if err := l.save(provider, got); err != nil {
		slog.Warn("could not store a provider's models", "provider", provider, "err", err)
	}
}

func (l *listings) save(provider string, got *listing) error {
	b, err := json.Marshal(got)
	if err != nil {
		return fmt.Errorf("encode models: %w", err)
	}
	if len(b) > maxListing {
		return nil
	}
	if err := os.MkdirAll(l.folder, 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	return atomicwriter.WriteFile(l.file(provider), b, 0o600)
}

// find returns the provider's information about a model.
func (l *listing) find(id string) (llm.ListedModel, bool) {
	i, ok := l.index[id]
	if !ok {
		i, ok = l.index[id+":latest"] // Ollama's name for a model without a tag
	}
	if !ok {
		return llm.ListedModel{}, false
	}
	return l.Models[i], true
}

// listed returns the models that a provider lists. It reuses a recent list
// unless fresh is set. If the provider cannot be asked, the last list holds,
// and the error says why.
func (p *Providers) listed(ctx context.Context, row provider.Row, a access, fresh bool) ([]llm.ListedModel, error) {
	origin := originOf(a.baseURL)
	last := p.listings.get(row.ID, origin)
	changing := row.Running != nil || row.Needs.URL // a user's server, which may have other models by now
	if !fresh && !changing && time.Since(last.At) < listingAge {
		return last.Models, nil
	}
	models, err := p.ask(ctx, row, a, listTimeout)
	if err != nil {
		return last.Models, err
	}
	p.listings.put(row.ID, &listing{At: time.Now().UTC().Truncate(time.Second), Origin: origin, Models: models})
	return models, nil
}

// completed returns the catalogue's row for a model, completed with the
// provider's information where the catalogue has none or only assumes.
func completed(m catalogue.Model, said llm.ListedModel) catalogue.Model {
	unlisted := m.ID == "" || m.Assumed != ""
	m.ID = cmp.Or(m.ID, said.ID)
	if said.Window > 0 && (unlisted || m.Window() == 0) {
		m.ContextWindow, m.MaxInput, m.Assumed = said.Window, 0, ""
	}
	if said.Serves > 0 && (m.Window() == 0 || said.Serves < m.Window()) {
		m.ContextWindow, m.MaxInput = said.Serves, 0
	}
	if said.MaxOutput > 0 && (unlisted || m.MaxOutput == 0) {
		m.MaxOutput = said.MaxOutput
	}
	if a := said.Abilities; a != nil && unlisted {
		m.Images, m.PDF, m.Tools, m.Reasons, m.Structured = &a.Images, a.PDF, a.Tools, a.Reasons, a.Structured
	}
	if said.Price != nil && m.Input == nil && m.Output == nil {
		m.Rates = catalogue.ListedRates(*said.Price)
	}
	if unlisted {
		m.Name = cmp.Or(said.Name, m.Name)
	}
	return m
}
