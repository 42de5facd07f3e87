package workbench

import (
	"context"
	"errors"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/fetch"
	"atelier.dev/atelier/agent/network"
	"atelier.dev/atelier/agent/sandbox/confine"
	"atelier.dev/atelier/backend"
)

// webFetch returns the tool with which a session reads pages of the web.
func webFetch(w *Workbench, info backend.SessionInfo) agent.Tool {
	return fetch.Tool(fetch.Config{
		Pages: w.pages,
		Hosts: func(ctx context.Context) (network.Settings, error) { return hostsOf(ctx, w, info) },
		Answer: func(ctx context.Context, instructions, material string) (string, []agent.SideRequest, error) {
			return answerFor(ctx, w, info.ID, sideJob{purpose: agent.PurposeFetch, instructions: instructions, material: material})
		},
	})
}

// hostsOf returns the hosts that the settings and rules of a session allow and deny.
func hostsOf(ctx context.Context, w *Workbench, info backend.SessionInfo) (network.Settings, error) {
	layers, err := w.sandboxLayers(ctx)
	if err != nil {
		return network.Settings{}, err
	}
	asked := confine.Combine(layers...)
	if asked.Broken {
		return network.Settings{}, errors.New("a settings file is damaged")
	}
	w.withRules(ctx, &asked, account(info))
	return network.Settings{AllowedDomains: asked.Allowed, DeniedDomains: asked.Denied}, nil
}

// answerFor has the small model of a session answer a question of one of its tools. The
// error is [fetch.ErrNoModel] if there is none, or the budget does not cover it.
func answerFor(ctx context.Context, w *Workbench, session string, job sideJob) (string, []agent.SideRequest, error) {
	info, err := w.session(ctx, session)
	if err != nil {
		return "", nil, err
	}
	by, ok := w.smallModel(ctx, info.Settings)
	if !ok || w.providers.Ready(ctx, by.Provider) != nil || !w.affords(info, by, len(job.instructions)+len(job.material)) {
		return "", nil, fetch.ErrNoModel
	}
	return w.ask(ctx, by, job)
}
