package workbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/lsp"
	"atelier.dev/atelier/agent/network"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/agent/sandbox/confine"
	"atelier.dev/atelier/backend/languages"
)

// newLanguageServers returns the language servers of the folder and its worktrees.
func (w *Workbench) newLanguageServers() *lsp.Servers {
	return lsp.New(lsp.Config{Languages: w.languageFiles.Languages, Environ: sandbox.Environ, Confine: w.confineLanguageServer, Off: languages.Off(w.ctx, w.cfg.Store)})
}

// confineLanguageServer returns what a language server may do: it reads the project,
// keeps its caches, changes nothing and reaches nobody. Many run code of the project
// (macros, plugins, build scripts), so none runs without confinement.
func (w *Workbench) confineLanguageServer(ctx context.Context, root string) (*confine.Profile, error) {
	layers, err := w.sandboxLayers(ctx)
	if err != nil {
		return nil, err
	}
	asked := confine.Combine(layers...)
	if !sandbox.Confinement(ctx, asked.Weaker).Works() {
		return nil, errors.New("language servers run code of the project, and this machine cannot confine them")
	}
	w.caches.Use(w.ctx)
	at := w.cachePlace(root)
	at.Own = []string{w.cfg.Home}
	if err := os.MkdirAll(at.Cache, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for the caches of a language server: %w", err)
	}
	profile := asked.At(at)
	connect(&profile, network.Shut())
	profile.Writable = slices.DeleteFunc(profile.Writable, func(dir string) bool { return dir == root })
	return &profile, nil
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
