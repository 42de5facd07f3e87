package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/catalogue"
	"atelier.dev/atelier/agent/llm/demo"
	"atelier.dev/atelier/agent/llm/provider"
	"atelier.dev/atelier/agent/picture"
)

// ModelsFile is the user's own rows of the catalogue, in the home folder.
const ModelsFile = "models.json"

// readCatalogue returns the catalogue, with the user's rows over it where there
// are any. The error says why they are not used; the catalogue then holds
// without them.
func readCatalogue(home string) (*catalogue.Catalogue, error) {
	path := filepath.Join(home, ModelsFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return catalogue.New(), nil
	}
	c := catalogue.New()
	if err == nil {
		c, err = catalogue.With(data)
	}
	if err != nil {
		slog.Warn("read models", "path", path, "err", err)
		return c, &Error{
			Code: CodeInvalid, Message: fmt.Sprintf("Your models in %s are not used: %v.", path, err),
			Kept: "Those that Atelier comes with hold.", Next: "Mend the file and start Atelier again.", cause: err,
		}
	}
	return c, nil
}

// row is what is known about a model: from the catalogue, else from its
// provider, else from its family, in which case it says so. It is empty where
// nothing is.
func (p *providers) row(provider, model string) catalogue.Model {
	c, _ := p.catalogue() // a bad file of the user's is reported by models.list
	m, ok := c.Lookup(provider, model)
	if !ok {
		m, _ = c.Assume(provider, model)
	}
	p.mu.Lock()
	origin := originOf(p.access[provider].baseURL)
	p.mu.Unlock()
	if said, ok := p.listings.get(provider, origin).find(model); ok {
		m = completed(m, said)
		m.Provider = provider
	}
	return m
}

// Price implements [agent.Facts]. A model without a price costs
// nothing where it runs on this machine; anywhere else its cost is unknown. A
// vendor's model that is reached through this machine costs what it costs. What
// the provider says that it charged wins over the prices.
func (p *providers) Price(provider, model string, u llm.Usage, at time.Time) *llm.Cost {
	if u.Charged > 0 {
		return &u.Charged
	}
	row := p.row(provider, model)
	if row.Input == nil && p.local(provider) {
		return new(llm.Cost)
	}
	if cost, known := row.Price(u, at); known {
		return &cost
	}
	return nil
}

// knowledgeCutoff says until when a model knows the world; empty is unknown.
func (p *providers) knowledgeCutoff(provider, model string) string {
	return p.row(provider, model).KnowledgeCutoff
}

// Pictures as providers take them (LLM-22). Anthropic's limit is on the encoded
// form, and on many pictures at a time.
var (
	pictureLimits          = picture.Limits{Bytes: 20 << 20, Edge: 8000}
	anthropicPictureLimits = picture.Limits{Bytes: 5 << 20 * 3 / 4, Edge: 2000}
)

// Limits implements [agent.Facts].
func (p *providers) Limits(provider, model string) agent.ModelLimits {
	row := p.row(provider, model)
	limits := agent.ModelLimits{Window: row.Window(), Picture: pictureLimits}
	limits.Blind = row.ID != "" && row.Assumed == "" && !row.Images
	if provider == "anthropic" {
		limits.Picture = anthropicPictureLimits
	}
	return limits
}

// local reports whether a provider runs on this machine. A vendor does not,
// wherever its API is reached.
func (p *providers) local(name string) bool {
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

// lister is implemented by adapters that can ask their endpoint for its models.
type lister interface {
	Models(context.Context) ([]llm.ListedModel, error)
}

const (
	listTimeout = 3 * time.Second
	testTimeout = 5 * time.Second
)

// ask asks a provider for its models. It waits no longer than patience.
func (p *providers) ask(ctx context.Context, row provider.Row, a access, patience time.Duration) ([]llm.ListedModel, error) {
	l, ok := row.New(p.config(row, a)).(lister)
	if !ok {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return l.Models(ctx)
}

// listModels lists the models of all providers. Those that must be asked are
// asked all at once, so that none waits for another.
func (w *Workbench) listModels(ctx context.Context, in ModelsRequest) (ModelList, error) {
	var out ModelList
	known, err := w.providers.catalogue()
	if err != nil {
		out.Problem = err.Error()
	}
	found, err := w.providers.found(ctx)
	if err != nil {
		return out, err
	}
	now := time.Now()
	table := w.providers.rows()
	out.Providers = make([]ProviderInfo, len(table))
	var wg sync.WaitGroup
	for i, row := range table {
		a, info := found[row.ID], &out.Providers[i]
		*info = w.providers.info(row, a)
		rows := known.Models(row.ID, now)
		if !info.Ready || row.Deployments {
			info.Models = w.providers.rowInfos(rows, now)
			continue
		}
		wg.Go(func() {
			listed, err := w.providers.listed(ctx, row, a, in.Refresh)
			if err != nil && (len(listed)+len(rows) == 0 || in.Refresh || row.Running != nil) {
				info.Problem = err.Error()
			}
			if last := w.providers.listings.get(row.ID, originOf(a.baseURL)); len(last.Models) > 0 {
				info.ListedAt = last.At.UnixMilli()
			}
			if row.Running == nil { // a server on this machine has what it has, whatever else is known
				info.Models = w.providers.rowInfos(rows, now)
				listed = unlisted(known, row.ID, rows, listed)
			}
			info.Models = append(info.Models, w.providers.modelInfos(row.ID, listed, now)...)
		})
	}
	wg.Wait()
	out.Providers = append(out.Providers, ProviderInfo{
		ID: demo.Provider, Name: "Demo", Ready: true,
		Models: []ModelInfo{{ID: demo.Model, Name: "Demo script", Scripted: true, Price: &ModelPrice{}}},
	})
	return out, nil
}

// unlisted are the models that a provider names and no row does. Of a provider
// with rows, whose list holds what no conversation can be had with, too, only
// those count whose family is known.
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

// localModels looks for servers on this machine that nobody set up, and lists
// those that run. It is called when somebody is about to choose, never before.
func (w *Workbench) localModels(ctx context.Context, _ Empty) (ModelList, error) {
	found, err := w.providers.found(ctx)
	if err != nil {
		return ModelList{}, err
	}
	now := time.Now()
	running := make([]ProviderInfo, len(w.providers.vendors))
	var wg sync.WaitGroup
	for i, row := range w.providers.vendors {
		info := w.providers.info(row, found[row.ID])
		if !info.Local {
			continue
		}
		wg.Go(func() {
			if ids, err := row.Running(ctx); err == nil {
				models := make([]llm.ListedModel, len(ids))
				for i, id := range ids {
					models[i].ID = id
				}
				info.Ready, info.Models = true, w.providers.modelInfos(row.ID, models, now)
				running[i] = info
			}
		})
	}
	wg.Wait()
	return ModelList{Providers: slices.DeleteFunc(running, func(p ProviderInfo) bool { return !p.Ready })}, nil
}

// info is a provider without its models.
func (p *providers) info(row provider.Row, a access) ProviderInfo {
	ready := row.SetUp(a.key, a.baseURL)
	return ProviderInfo{
		ID: row.ID, Name: row.Name, Ready: ready, Default: row.DefaultModel,
		Vendor: row.Vendor, Local: row.Running != nil && !ready,
	}
}

// rowInfos is what a picker shows of the catalogue's models.
func (p *providers) rowInfos(rows []catalogue.Model, at time.Time) []ModelInfo {
	var infos []ModelInfo
	for _, m := range rows {
		infos = append(infos, p.modelInfo(m, at))
	}
	return infos
}

// modelInfos is what a picker shows of the models that a provider listed.
func (p *providers) modelInfos(provider string, models []llm.ListedModel, at time.Time) []ModelInfo {
	var infos []ModelInfo
	for _, said := range models {
		m := p.row(provider, said.ID)
		m.Provider, m.ID, m.Name = provider, said.ID, cmp.Or(m.Name, said.Name, said.ID)
		infos = append(infos, p.modelInfo(m, at))
	}
	return infos
}

// modelInfo is what a picker shows of a row.
func (p *providers) modelInfo(m catalogue.Model, at time.Time) ModelInfo {
	info := ModelInfo{
		ID: m.ID, Name: m.Name, ContextWindow: m.Window(), Efforts: m.Efforts,
		Shutdown: m.Shutdown, Replacement: m.Replacement, Assumed: m.Assumed,
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
		{m.Images, AbilityImages},
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

// testModel asks a provider for its models, which shows whether it can be
// reached, takes the key and offers the model, and costs nothing.
func (w *Workbench) testModel(ctx context.Context, in ModelRef) (ConnectionTest, error) {
	if in.Provider == demo.Provider {
		return ConnectionTest{Reachable: true, Models: 1}, nil
	}
	row, a, err := w.providers.get(ctx, in.Provider)
	if err != nil {
		return ConnectionTest{}, err
	}
	if err := w.providers.ready(ctx, row.ID); err != nil {
		e := AsError(err)
		return ConnectionTest{Problem: e.Message, Next: e.Next}, nil
	}
	begin := time.Now()
	models, err := w.providers.ask(ctx, row, a, testTimeout)
	out := ConnectionTest{Reachable: err == nil, DurationMs: time.Since(begin).Milliseconds(), Models: len(models)}
	switch {
	case err != nil:
		out.Problem, out.Next = agent.Explain(err).Message, testAgain(err)
	case in.Model != "" && len(models) > 0 && !row.Deployments && !names(models, in.Model):
		out.Problem = fmt.Sprintf("%s does not list the model %s.", row.Name, in.Model)
		out.Next = "It may answer all the same; if not, choose another one."
	}
	return out, nil
}

func names(models []llm.ListedModel, id string) bool {
	return slices.ContainsFunc(models, func(m llm.ListedModel) bool { return m.ID == id })
}

// testAgain says what to do before a connection is tested once more.
func testAgain(err error) string {
	var e *llm.Error
	if errors.As(err, &e) {
		switch e.Class {
		case llm.ClassAuth, llm.ClassPermission:
			return "Check the key."
		case llm.ClassRateLimit, llm.ClassOverloaded, llm.ClassServer:
			return "Wait a little and test again."
		case llm.ClassQuota:
			return "Check your plan with the provider."
		}
	}
	return "Check your connection and the provider's address."
}
