package agent

import (
	"context"

	"atelier.dev/atelier/agent/llm"
)

// Profiles define what each model is shown (LOOP-21). They are called from the
// session's goroutine.
type Profiles interface {
	// Profile returns the tools as a model is shown them. While they do not change,
	// it returns the same ones for the same model, because a change costs what the
	// provider has cached of the session. The calls of an answer are read by the
	// tools of its request.
	Profile(provider, model string) Profile
	// Brief writes the text that a model gets first. It is called once for each
	// model of a session. The log keeps the text for the session's life, so
	// that the prefix of its requests stays the same (LOOP-10).
	Brief(ctx context.Context, now BriefingInput) Briefing
}

// Profile is what models of one kind are shown.
type Profile struct {
	ID    string
	Tools *Toolset
	// Options go into every request to the model.
	Options ProviderOptions
}

// Plain shows the same prompt to every model, and the tools under their own
// names. Without tools there are none to call.
func Plain(system string, tools *Registry) Profiles {
	if tools == nil {
		tools = &Registry{}
	}
	return plain{system, tools.Show()}
}

type plain struct {
	system string
	tools  *Toolset
}

func (p plain) Profile(string, string) Profile { return Profile{ID: "plain", Tools: p.tools} }

func (p plain) Brief(context.Context, BriefingInput) Briefing { return Briefing{System: p.system} }

// prompted overrides the prompt of other profiles.
type prompted struct {
	Profiles
	system string
}

func (p prompted) Brief(context.Context, BriefingInput) Briefing { return Briefing{System: p.system} }

// shown are the tools of a session's newest request.
type shown struct {
	model llm.Origin
	tools *Toolset // nil before the first request
}

// show returns the profile for a request to a model, and remembers its tools.
func (s *Session) show(model llm.Origin) Profile {
	p := s.cfg.Profiles.Profile(model.Provider, model.Model)
	s.shown = shown{model: model, tools: p.Tools}
	return p
}

// tools returns the tools as they were shown to the model that answered last.
// Its calls are read by them even if another model is chosen or the tools change
// meanwhile.
func (s *Session) tools() *Toolset {
	now := s.transcript.effective()
	model := llm.Origin{Provider: now.Provider, Model: now.Model}
	if last := s.transcript.past.last; last != nil {
		model = *last
	}
	if s.shown.tools != nil && s.shown.model == model {
		return s.shown.tools
	}
	return s.cfg.Profiles.Profile(model.Provider, model.Model).Tools
}
