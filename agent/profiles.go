package agent

import (
	"context"

	"atelier.dev/atelier/agent/llm"
)

// Profiles define what each model is shown (LOOP-21). They are called from the
// session's goroutine.
type Profiles interface {
	// Profile returns the tools as a model is shown them, always the same for
	// the same model.
	Profile(provider, model string) Profile
	// Brief writes the text that a model gets first. It is called once for each
	// model of a session. The log keeps the text for the session's life, so
	// that the prefix of its requests stays the same (LOOP-10).
	Brief(ctx context.Context, now Situation) Briefing
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

func (p plain) Brief(context.Context, Situation) Briefing { return Briefing{System: p.system} }

// prompted overrides the prompt of other profiles.
type prompted struct {
	Profiles
	system string
}

func (p prompted) Brief(context.Context, Situation) Briefing { return Briefing{System: p.system} }

// tools returns the tools as they were shown to the model that answered last.
// Its calls are read by them even if another model is chosen meanwhile.
func (s *Session) tools() *Toolset {
	model := llm.Origin{Provider: s.transcript.Settings.Provider, Model: s.transcript.Settings.Model}
	if last := s.transcript.past.last; last != nil {
		model = *last
	}
	return s.cfg.Profiles.Profile(model.Provider, model.Model).Tools
}
