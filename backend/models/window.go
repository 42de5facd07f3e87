package models

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"atelier.dev/atelier/agent/llm/provider"
)

const (
	// refreshTimeout limits how long a session waits for what a server says about
	// its models.
	refreshTimeout = 2 * time.Second
	// anyWindowSetting is for servers that are no preset.
	anyWindowSetting = "llama-server -c %d / OLLAMA_CONTEXT_LENGTH=%[1]d / vllm serve --max-model-len %[1]d"
)

// nearby is implemented by adapters whose server may be one that people run
// themselves.
type nearby interface{ Nearby() bool }

// nearby returns a provider if people run its server themselves. It does no I/O.
func (p *Providers) nearby(id string) (provider.Row, access, bool) {
	rows := p.rows()
	i := slices.IndexFunc(rows, func(r provider.Row) bool { return r.ID == id })
	if i < 0 {
		return provider.Row{}, access{}, false
	}
	p.mu.Lock()
	a := p.access[id]
	p.mu.Unlock()
	if rows[i].New == nil || !rows[i].Usable(a.key, a.baseURL) {
		return rows[i], a, false
	}
	n, ok := rows[i].New(p.config(rows[i], a)).(nearby)
	return rows[i], a, ok && n.Nearby()
}

// Refresh implements [agent.ModelServer]. The request that follows reports a
// server that does not answer.
func (p *Providers) Refresh(ctx context.Context, id string) {
	if p.load(ctx) != nil {
		return
	}
	row, a, ok := p.nearby(id)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	if _, err := p.listed(ctx, row, a, true); err != nil {
		slog.Debug("could not ask for the windows of models", "provider", id, "err", err)
	}
}

// Widening implements [agent.ModelServer].
func (p *Providers) Widening(id string, tokens int64) string {
	row, _, ok := p.nearby(id)
	switch {
	case !ok:
		return ""
	case row.WindowSetting != "":
		return fmt.Sprintf(row.WindowSetting, tokens)
	}
	return fmt.Sprintf(anyWindowSetting, tokens)
}
