package workbench

import (
	"context"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/lsp"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/backend/languages"
)

// newLanguageServers returns the language servers of the folder and its worktrees.
func (w *Workbench) newLanguageServers() *lsp.Servers {
	return lsp.New(lsp.Config{Languages: w.languageFiles.Languages, Environ: sandbox.Environ, Confine: w.confinement.LanguageServer, Off: languages.Off(w.ctx, w.cfg.Store)})
}

// diagnosed adds to the advice after a call what language servers find wrong with the
// files that it changed.
func (p points) diagnosed(ctx context.Context, after agent.PostToolUseInput, advice agent.HookAdvice) agent.HookAdvice {
	place, ok := p.bench.placeOf(p.info.ID)
	if !ok || len(after.Access.Writes) == 0 {
		return advice
	}
	if found := lsp.Diagnose(ctx, p.bench.languages, place.env, after.Access.Writes); found != "" {
		if advice.Context != "" {
			found = advice.Context + "\n\n" + found
		}
		advice.Context = found
	}
	return advice
}

// languageTools returns the tools that ask the language servers.
func (w *Workbench) languageTools(e env.Environment) []agent.Tool {
	return []agent.Tool{lsp.Tool(w.languages, e), lsp.RenameTool(w.languages, e)}
}
