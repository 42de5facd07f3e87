package models

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/provider"
)

// The environment's variables that belong to no provider (OAS-723). They
// override a provider's own.
const (
	keyVariable   = "CODEANY_API_KEY"
	modelVariable = "CODEANY_MODEL"
	urlVariable   = "CODEANY_BASE_URL"
)

// The default model for those variables, and the provider that they mean if a
// model is named without one.
const (
	environmentProvider = "anthropic"
	environmentModel    = "claude-sonnet-4-6"
)

// environment holds the values of those variables.
type environment struct {
	key, baseURL    string
	provider, model string
	chosen          bool // the model was named, not a default
}

// environment reads the variables. A model is named as PROVIDER/ID, including
// the user's own endpoints; its provider is never guessed from its name
// (LLM-03).
func (p *Providers) environment(own []provider.Row) environment {
	getenv := func(name string) string { return strings.TrimSpace(p.cfg.Getenv(name)) }
	e := environment{key: getenv(keyVariable), baseURL: getenv(urlVariable), provider: environmentProvider}
	named := getenv(modelVariable)
	e.chosen = named != ""
	if e.chosen || e.key != "" || e.baseURL != "" {
		e.model = cmp.Or(named, environmentModel)
	}
	for _, row := range slices.Concat(p.vendors, own) {
		if id, ok := strings.CutPrefix(named, row.ID+"/"); ok && id != "" {
			e.provider, e.model = row.ID, id
		}
	}
	return e
}

// Preferred returns the settings of new sessions, with the environment's model
// if that takes precedence and can be used. picked says that the user has
// chosen a model in this process.
func (p *Providers) Preferred(ctx context.Context, s agent.Settings, picked bool) agent.Settings {
	e := p.environment(nil)
	if e.chosen && p.load(ctx) == nil {
		e = p.environment(p.rows())
	}
	if over := e.over(s, picked); over != s && p.Ready(ctx, e.provider) == nil {
		return over
	}
	return s
}

// over returns the settings of new sessions with the environment's model. A
// model that the environment names overrides the stored one until the user
// picks another in this process. Its default model applies only if none is
// stored.
func (e environment) over(s agent.Settings, picked bool) agent.Settings {
	wins := s.Model == "" || e.chosen && !picked
	if e.model == "" || !wins || s.Provider == e.provider && s.Model == e.model {
		return s
	}
	s.Provider, s.Model, s.Effort = e.provider, e.model, ""
	return s
}
