package agent

import (
	"context"

	"atelier.dev/atelier/agent/llm"
)

// Profiles say what each model is shown (LOOP-21). They are asked from the
// session's goroutine.
type Profiles interface {
	// Profile returns what a model is shown of the tools, always the same for
	// the same model.
	Profile(provider, model string) Profile
	// Brief writes what a model is told before anything else. It is asked once
	// for each model of a session: what it said is in the log and holds for
	// the session's life, so that the prefix of its requests stays the same
	// (LOOP-10).
	Brief(ctx context.Context, now Situation) Briefing
}

// Profile is what the models of one kind are shown.
type Profile struct {
	ID    string
	Tools *Toolset
	// Options go into every request to the model.
	Options ProviderOptions
}

// Plain shows every model the same prompt, and the tools under their own names.
func Plain(system string, tools *Registry) Profiles {
	return plain{system, tools.Show()}
}

type plain struct {
	system string
	tools  *Toolset
}

func (p plain) Profile(string, string) Profile { return Profile{ID: "plain", Tools: p.tools} }

func (p plain) Brief(context.Context, Situation) Briefing { return Briefing{System: p.system} }

// prompted are profiles with another prompt.
type prompted struct {
	Profiles
	system string
}

func (p prompted) Brief(context.Context, Situation) Briefing { return Briefing{System: p.system} }

// tools are as the model was shown them that answered last: its calls are read
// by them, also when another model is chosen meanwhile.
func (s *Session) tools() *Toolset {
	who := llm.Origin{Provider: s.transcript.Settings.Provider, Model: s.transcript.Settings.Model}
	if last := s.transcript.past.last; last != nil {
		who = *last
	}
	return s.cfg.Profiles.Profile(who.Provider, who.Model).Tools
}
