package workbench

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/fetch"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/catalogue"
	"atelier.dev/atelier/agent/llm/generate"
	"atelier.dev/atelier/agent/network"
	"atelier.dev/atelier/agent/tool"
	search "atelier.dev/atelier/agent/websearch"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/contexts"
)

// webFetch returns the tool with which a session reads pages of the web.
func webFetch(w *Workbench, info backend.SessionInfo) agent.Tool {
	return fetch.Tool(fetch.Config{
		Pages: w.pages,
		Hosts: func(ctx context.Context) (network.Settings, error) { return w.confinement.Hosts(ctx, account(info)) },
		Answer: func(ctx context.Context, instructions, material string) (string, []agent.SideRequest, error) {
			return answerFor(ctx, w, info.ID, sideJob{purpose: agent.PurposeFetch, instructions: instructions, material: material})
		},
	})
}

// shortened returns what shortens the long results of a session's tools.
func shortened(w *Workbench, info backend.SessionInfo) func(context.Context, string, string, func(agent.SideRequest)) *string {
	return contexts.Shortener(w.cfg.Store, tool.HasLimit, func(ctx context.Context, instructions, material string) (string, []agent.SideRequest, error) {
		return answerFor(ctx, w, info.ID, sideJob{purpose: agent.PurposeShorten, instructions: instructions, material: material})
	})
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

// webSearch returns the tool with which a session searches the web.
func webSearch(w *Workbench, info backend.SessionInfo) agent.Tool {
	return search.Tool(search.Config{Engine: func(ctx context.Context) (search.Engine, error) {
		engine, byProvider, err := w.searches.Engine(ctx)
		if err != nil || !byProvider {
			return engine, err
		}
		return providersSearch(ctx, w, info.ID)
	}})
}

// providerTitles are those whose models search.
var providerTitles = map[string]string{"openai": "OpenAI", "anthropic": "Anthropic", "gemini": "Gemini"}

// searchTime limits one search by a provider.
const searchTime = time.Minute

// providersSearch returns the search that the provider of a session's model runs, with its
// small model if it has one. The error is [search.ErrUnset] if it runs none.
func providersSearch(ctx context.Context, w *Workbench, session string) (search.Engine, error) {
	info, err := w.session(ctx, session)
	if err != nil {
		return search.Engine{}, err
	}
	by := llm.Origin{Provider: info.Settings.Provider, Model: info.Settings.Model}
	if low := w.providers.AtLevel(ctx, info.Settings, catalogue.LevelLow); low.Provider == by.Provider {
		by.Model = low.Model
	}
	if _, ok := search.Hosted(by.Provider, search.Input{}); !ok || w.providers.Ready(ctx, by.Provider) != nil {
		return search.Engine{}, search.ErrUnset
	}
	title := providerTitles[by.Provider]
	return search.Engine{Title: title, Host: title, Search: func(ctx context.Context, in search.Input) (search.Found, error) {
		if !w.affords(info, by, len(in.Query)) {
			return search.Found{}, errors.New("the budget of the session does not cover it")
		}
		return searched(ctx, w, by, in)
	}}, nil
}

func searched(ctx context.Context, w *Workbench, by llm.Origin, in search.Input) (found search.Found, err error) {
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	options, _ := search.Hosted(by.Provider, in)
	request := llm.Request{Provider: by.Provider, Model: by.Model, System: search.HostedInstructions, Options: options}
	var items []json.RawMessage
	var answer *llm.Answer
	for ev, err := range generate.Stream(ctx, w.providers, generate.Call{Request: request, Prompt: in.Query}) {
		if err != nil {
			return found, err
		}
		if len(ev.Raw) > 0 {
			items = append(items, ev.Raw)
		}
		if ev.Answer != nil {
			answer = ev.Answer
		}
	}
	if answer == nil {
		return found, errors.New("it gave no answer")
	}
	for _, part := range answer.Message.Parts {
		if len(part.Native) > 0 {
			items = append(items, part.Native)
		}
	}
	found.Made = []agent.SideRequest{{
		Purpose: agent.PurposeSearch, Provider: by.Provider, Model: by.Model,
		Usage: answer.Usage, Cost: w.providers.Price(by.Provider, by.Model, answer.Usage, time.Now()),
	}}
	found.Hits, found.Answer = search.HitsOf(items), answer.Message.Text()
	return found, nil
}
