package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/catalogue"
	"atelier.dev/atelier/agent/llm/demo"
	"atelier.dev/atelier/agent/llm/provider"
	"atelier.dev/atelier/backend"
)

// ModelsFile has the user's own rows of the catalogue, in the home folder.
const ModelsFile = "models.json"

// Catalogue returns what reads the catalogue of a home folder once, when it is first asked.
func Catalogue(home string) func() (*catalogue.Catalogue, error) {
	return sync.OnceValues(func() (*catalogue.Catalogue, error) { return readCatalogue(home) })
}

// readCatalogue returns the catalogue with the user's rows on top, if there are
// any. The error says why the user's rows cannot be used; the catalogue is then
// returned without them.
func readCatalogue(home string) (*catalogue.Catalogue, error) {
	path := filepath.Join(home, ModelsFile)
	data, err := readModels(path)
	if errors.Is(err, fs.ErrNotExist) {
		return catalogue.New(), nil
	}
	c := catalogue.New()
	if err == nil {
		c, err = catalogue.With(data)
	}
	if err != nil {
		slog.Warn("could not read the user's models", "path", path, "err", err)
		return c, backend.Problem(backend.ProblemModelsFile, path, err.Error()).Because(err)
	}
	return c, nil
}

// maxModelsFile is many times the size of the built-in catalogue.
const maxModelsFile = 16 << 20

func readModels(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would be waited for
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, errors.New("it is not a regular file"))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxModelsFile+1))
	if err == nil && len(data) > maxModelsFile {
		err = fmt.Errorf("the file is larger than %d MB", maxModelsFile>>20)
	}
	return data, err
}

// row returns what is known about a model, from the catalogue, else from its
// provider, else from its family, which it marks as assumed. It is empty if
// nothing is known.
func (p *Providers) row(provider, model string) catalogue.Model {
	c, _ := p.catalogue() // models.list reports faults in the user's file
	m := c.Known(provider, model)
	p.mu.Lock()
	origin := originOf(p.access[provider].baseURL)
	p.mu.Unlock()
	if said, ok := p.listings.get(provider, origin).find(model); ok {
		m = completed(m, said)
		m.Provider = provider
	}
	return m
}

// KnowledgeCutoff returns a model's knowledge cutoff; empty means unknown.
func (p *Providers) KnowledgeCutoff(provider, model string) string {
	return p.row(provider, model).KnowledgeCutoff
}

// local reports whether a provider runs on this machine. A vendor does not,
// whatever its address.
func (p *Providers) local(name string) bool {
	if name == demo.Provider {
		return true
	}
	p.mu.Lock()
	address := p.access[name].baseURL
	p.mu.Unlock()
	if i := slices.IndexFunc(p.vendors, func(r provider.Row) bool { return r.ID == name }); i >= 0 {
		if p.vendors[i].Vendor {
			return false
		}
		address = cmp.Or(address, p.vendors[i].BaseURL)
	}
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return ip.IsLoopback() || u.Hostname() == "localhost" || strings.HasSuffix(u.Hostname(), ".localhost")
}

// lister is implemented by adapters that can list the models of their endpoint.
type lister interface {
	Models(context.Context) ([]llm.ListedModel, error)
}

const (
	listTimeout = 3 * time.Second
	testTimeout = 5 * time.Second
)

// ask asks a provider for its models. It waits no longer than patience.
func (p *Providers) ask(ctx context.Context, row provider.Row, a access, patience time.Duration) ([]llm.ListedModel, error) {
	l, ok := row.New(p.config(row, a)).(lister)
	if !ok {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return l.Models(ctx)
}

// List lists the models of all providers. It asks providers in parallel, so
// that none waits for another.
func (p *Providers) List(ctx context.Context, in ModelsRequest) (ModelList, error) {
	var out ModelList
	known, err := p.catalogue()
	if err != nil {
		out.Problem = backend.AsError(err)
	}
	found, err := p.found(ctx)
	if err != nil {
		return out, err
	}
	now := time.Now()
	table := p.rows()
	out.Providers = make([]ProviderInfo, len(table))
	var wg sync.WaitGroup
	for i, row := range table {
		a, info := found[row.ID], &out.Providers[i]
		*info = p.info(row, a)
		rows := known.Models(row.ID, now)
		if !info.Ready || row.Deployments {
			info.Models = p.rowInfos(rows, now)
			continue
		}
		wg.Go(func() {
			listed, err := p.listed(ctx, row, a, in.Refresh)
			if err != nil && (len(listed)+len(rows) == 0 || in.Refresh || row.Running != nil) {
				info.Problem = withoutKept(agent.Explain(err))
			}
			if last := p.listings.get(row.ID, originOf(a.baseURL)); len(last.Models) > 0 {
				info.ListedAt = last.At.UnixMilli()
			}
			if row.Running == nil { // a server on this machine has only the models that it lists
				info.Models = p.rowInfos(rows, now)
				listed = unlisted(known, row.ID, rows, listed)
			}
			info.Models = append(info.Models, p.modelInfos(row.ID, listed, now)...)
		})
	}
	wg.Wait()
	out.Providers = append(out.Providers, ProviderInfo{
		ID: demo.Provider, Name: "Demo", Ready: true,
		Models: []ModelInfo{{ID: demo.Model, Name: "Demo script", Scripted: true, Price: &ModelPrice{}}},
	})
	return out, nil
}

// unlisted returns the models that a provider lists and the catalogue does not.
// For a provider with rows, only models of a known family count, because its
// list also contains models that are not for conversations.
func unlisted(known *catalogue.Catalogue, provider string, rows []catalogue.Model, listed []llm.ListedModel) []llm.ListedModel {
	var more []llm.ListedModel
	for _, m := range listed {
		_, ok := known.Lookup(provider, m.ID)
		if _, kin := known.Assume(provider, m.ID); !ok && (kin || len(rows) == 0) {
			more = append(more, m)
		}
	}
	return more
}

// Local looks for servers on this machine that nobody configured, and lists
// those that run. It is called only when somebody is about to choose.
func (p *Providers) Local(ctx context.Context, _ backend.Empty) (ModelList, error) {
	found, err := p.found(ctx)
	if err != nil {
		return ModelList{}, err
	}
	now := time.Now()
	running := make([]ProviderInfo, len(p.vendors))
	var wg sync.WaitGroup
	for i, row := range p.vendors {
		info := p.info(row, found[row.ID])
		if !info.Local {
			continue
		}
		wg.Go(func() {
			if ids, err := row.Running(ctx); err == nil {
				models := make([]llm.ListedModel, len(ids))
				for i, id := range ids {
					models[i].ID = id
				}
				info.Ready, info.Models = true, p.modelInfos(row.ID, models, now)
				running[i] = info
			}
		})
	}
	wg.Wait()
	return ModelList{Providers: slices.DeleteFunc(running, func(p ProviderInfo) bool { return !p.Ready })}, nil
}

// info returns a provider without its models.
func (p *Providers) info(row provider.Row, a access) ProviderInfo {
	ready := row.SetUp(a.key, a.baseURL)
	return ProviderInfo{
		ID: row.ID, Name: row.Name, Ready: ready, Default: row.DefaultModel,
		Vendor: row.Vendor, Local: row.Running != nil && !ready,
	}
}

// rowInfos returns the picker's view of the catalogue's models.
func (p *Providers) rowInfos(rows []catalogue.Model, at time.Time) []ModelInfo {
	var infos []ModelInfo
	for _, m := range rows {
		infos = append(infos, p.modelInfo(m, at))
	}
	return infos
}

// modelInfos returns the picker's view of the models that a provider listed.
func (p *Providers) modelInfos(provider string, models []llm.ListedModel, at time.Time) []ModelInfo {
	var infos []ModelInfo
	for _, said := range models {
		m := p.row(provider, said.ID)
		m.Provider, m.ID, m.Name = provider, said.ID, cmp.Or(m.Name, said.Name, said.ID)
		infos = append(infos, p.modelInfo(m, at))
	}
	return infos
}

// modelInfo returns the picker's view of a row.
func (p *Providers) modelInfo(m catalogue.Model, at time.Time) ModelInfo {
	info := ModelInfo{
		ID: m.ID, Name: m.Name, ContextWindow: m.Window(), Efforts: m.Efforts,
		Recommended: m.Recommended && m.Assumed == "", Shutdown: m.Shutdown, Replacement: m.Replacement, Assumed: m.Assumed, Blind: m.Blind(),
	}
	switch r := m.At(0, at); {
	case r.Input != nil && r.Output != nil:
		info.Price = &ModelPrice{
			Input: r.Input.PerMillion(), Output: r.Output.PerMillion(),
			CacheRead: perMillion(r.CacheRead), CacheWrite: perMillion(r.CacheWrite),
		}
	case p.local(m.Provider):
		info.Price = &ModelPrice{}
	}
	for _, a := range []struct {
		has     bool
		ability Ability
	}{
		{m.Reasons, AbilityReasoning},
		{m.Images != nil && *m.Images, AbilityImages},
		{m.PDF, AbilityPDF},
		{m.Tools, AbilityTools},
		{m.Structured, AbilityStructured},
	} {
		if a.has {
			info.Abilities = append(info.Abilities, a.ability)
		}
	}
	return info
}

func perMillion(r *catalogue.Rate) *float64 {
	if r == nil {
		return nil
	}
	return new(r.PerMillion())
}

// Test asks a provider for its models. That is free, and shows whether the
// provider can be reached, accepts the key and offers the model.
func (p *Providers) Test(ctx context.Context, in ModelRef) (ConnectionTest, error) {
	if in.Provider == demo.Provider {
		return ConnectionTest{Reachable: true, Models: 1}, nil
	}
	row, a, err := p.get(ctx, in.Provider)
	if err != nil {
		return ConnectionTest{}, err
	}
	if err := p.Ready(ctx, row.ID); err != nil {
		return ConnectionTest{Problem: withoutKept(*backend.AsError(err).Failure())}, nil
	}
	begin := time.Now()
	models, err := p.ask(ctx, row, a, testTimeout)
	out := ConnectionTest{Reachable: err == nil, DurationMs: time.Since(begin).Milliseconds(), Models: len(models)}
	switch {
	case err != nil:
		out.Problem = withoutKept(agent.Explain(err))
	case in.Model != "" && len(models) > 0 && !row.Deployments && !names(models, in.Model):
		out.Problem = backend.Problem(backend.ProblemModelUnlisted, row.Name, in.Model).Failure()
	}
	return out, nil
}

// withoutKept returns a failure without the sentence about what was kept, which
// is about a conversation.
func withoutKept(f agent.Failure) *agent.Failure {
	f.Kept = ""
	return &f
}

func names(models []llm.ListedModel, id string) bool {
	return slices.ContainsFunc(models, func(m llm.ListedModel) bool { return m.ID == id })
}

// ProviderInfo is a provider and its models.
type ProviderInfo struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Ready bool   `json:"ready"` // has what it needs to be called
	// Problem says why a ready provider's models could not be listed.
	Problem *agent.Failure `json:"problem,omitempty"`
	Models  []ModelInfo    `json:"models,omitempty"`
	// Vendor marks providers with an API of their own, which come first.
	Vendor bool `json:"vendor,omitempty"`
	// Local marks a server on this machine that nobody configured. It can be
	// called if it runs, is ready if it was found running, and is never chosen
	// automatically.
	Local bool `json:"local,omitempty"`
	// Default is the first model of new sessions; empty means the first in the
	// list.
	Default string `json:"default,omitempty"`
	// ListedAt is when the provider itself last listed its models; 0 means
	// never.
	ListedAt int64 `json:"listed_at,omitempty"`
}

// ModelInfo is a model as the picker shows it.
type ModelInfo struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// ContextWindow is the model's context window in tokens; 0 means unknown.
	ContextWindow int64        `json:"context_window,omitempty"`
	Efforts       []llm.Effort `json:"efforts,omitempty"`
	// Scripted marks a script that stands in for a model.
	Scripted bool `json:"scripted,omitempty"`
	// Price is the current price; absent if it is unknown.
	Price *ModelPrice `json:"price,omitempty"`
	// Abilities lists the known abilities; absent means that nothing is known.
	Abilities []Ability `json:"abilities,omitempty"`
	// Blind says that the model is known to take no pictures.
	Blind bool `json:"blind,omitempty"`
	// Recommended says that the model is a first choice for coding.
	Recommended bool `json:"recommended,omitempty"`
	// Shutdown is the day, as YYYY-MM-DD, on which the vendor switches the
	// model off, and Replacement the model that it recommends instead.
	Shutdown    string `json:"shutdown,omitempty"`
	Replacement string `json:"replacement,omitempty"`
	// Assumed is the id of a model of the same family from which the window,
	// the efforts and the abilities were taken, because nothing is known about
	// this one.
	Assumed string `json:"assumed,omitempty"`
}

// ModelPrice is in US dollars per million tokens. An absent price is unknown.
type ModelPrice struct {
	Input      float64  `json:"input"`
	Output     float64  `json:"output"`
	CacheRead  *float64 `json:"cache_read,omitempty"`
	CacheWrite *float64 `json:"cache_write,omitempty"`
}

// Ability is an ability of a model.
type Ability string

// The abilities that a picker shows.
const (
	AbilityReasoning  Ability = "reasoning"
	AbilityImages     Ability = "images"
	AbilityPDF        Ability = "pdf"
	AbilityTools      Ability = "tools"
	AbilityStructured Ability = "structured_output"
)

// ModelsRequest is for models.list. Refresh asks every configured provider,
// however recently it was asked.
type ModelsRequest struct {
	Refresh bool `json:"refresh,omitempty"`
}

// ModelList answers models.list.
type ModelList struct {
	Providers []ProviderInfo `json:"providers,omitempty"`
	// Problem says why the user's own models file is not used.
	Problem *backend.Error `json:"problem,omitempty"`
}

// ModelRef names a model; for models.test the model may be empty.
type ModelRef struct {
	Provider string `json:"provider"`
	Model    string `json:"model,omitempty"`
}

// ConnectionTest answers models.test. Reachable says that the provider answered
// and accepted the key. Problem says what else is wrong, or why the provider
// was not reached.
type ConnectionTest struct {
	Reachable  bool           `json:"reachable"`
	DurationMs int64          `json:"duration_ms"`
	Models     int            `json:"models,omitempty"` // how many it lists
	Problem    *agent.Failure `json:"problem,omitempty"`
}
