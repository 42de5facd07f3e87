package backend

import (
	"context"
	"net/http"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/compat"
	"atelier.dev/atelier/agent/llm/provider"
)

// MoveLocal has a preset of this machine looked for at another address, where a
// test's server listens. Call it before anything else.
func (w *Workbench) MoveLocal(id, baseURL string) {
	presets := compat.Presets()
	p := presets[slices.IndexFunc(presets, func(p compat.Preset) bool { return p.ID == id })]
	p.BaseURL = baseURL
	i := slices.IndexFunc(w.providers.vendors, func(r provider.Row) bool { return r.ID == id })
	w.providers.vendors[i] = provider.FromPreset(p)
}

// Header is what is sent to a provider besides its key.
func (w *Workbench) Header(ctx context.Context, provider string) (http.Header, error) {
	row, a, err := w.providers.get(ctx, provider)
	return w.providers.config(row, a).Header, err
}

// AtLevel is which model a job of a level gets.
var AtLevel = (*Workbench).atLevel

// CommandTimeout is the user's time limit for commands that name none.
var CommandTimeout = (*Workbench).commandTimeout

// SuggestionFrom reads a prompt from a model's answer.
var SuggestionFrom = suggestionFrom

// AwaitJobs waits until the jobs beside a session are over.
func (w *Workbench) AwaitJobs(session string) {
	w.find(session).beside.jobs.Wait()
}

// Abort aborts a session that works.
func (w *Workbench) Abort(session string) {
	w.find(session).session.Load().Abort()
}

// MaxResting is how many sessions at rest stay in memory.
const MaxResting = maxResting

// InMemory counts the sessions in memory.
func (w *Workbench) InMemory() int {
	w.lives.mu.Lock()
	defer w.lives.mu.Unlock()
	return len(w.lives.of)
}

// Facts are what sessions are told of models.
func (w *Workbench) Facts() agent.Facts { return w.providers }
