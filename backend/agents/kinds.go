package agents

import (
	"context"

	"atelier.dev/atelier/agent/agentdef"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
)

// Register registers the method that lists the kinds of agents.
func (a *Agents) Register(d *dispatch.Dispatcher) { dispatch.Handle(d, "agents.kinds", a.kinds) }

// AgentKinds are the definitions of agents of a folder, also those that cannot be used.
type AgentKinds struct {
	Kinds []AgentKind `json:"kinds,omitempty"`
	// More says that there are more files than were read.
	More bool `json:"more,omitempty"`
}

// AgentKind is a definition. File is absolute; empty for one that no file has.
type AgentKind struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Scope       string `json:"scope,omitempty"`
	File        string `json:"file,omitempty"`
	// Use says whether models may start it: [KindUsable], [KindWaiting], [KindBroken] or
	// [KindShadowed].
	Use      string         `json:"use"`
	Findings []AgentFinding `json:"findings,omitempty"`
}

// What keeps a definition from being used: the user's trust, a mistake in it, or another one of
// its name.
const (
	KindUsable   = "usable"
	KindWaiting  = "waiting"
	KindBroken   = "broken"
	KindShadowed = "shadowed"
)

// AgentFinding is something wrong with a definition; see [agentdef.Finding].
type AgentFinding struct {
	ID      string   `json:"id"`
	Line    int      `json:"line,omitempty"`
	Message string   `json:"message"`
	Args    []string `json:"args,omitempty"`
}

func (a *Agents) kinds(context.Context, backend.Empty) (AgentKinds, error) {
	l := a.current()
	in := func(list []agentdef.Definition, d agentdef.Definition) bool {
		found, ok := agentdef.Find(list, d.Name)
		return ok && found.Place == d.Place
	}
	out := AgentKinds{More: l.more}
	for _, d := range l.found {
		kind := AgentKind{Name: d.Name, Description: d.Description, Scope: string(d.Place.Scope), File: d.Place.File, Use: KindShadowed}
		switch {
		case d.Broken():
			kind.Use = KindBroken
		case in(l.usable, d):
			kind.Use = KindUsable
		case in(l.waiting, d):
			kind.Use = KindWaiting
		}
		for _, f := range d.Findings {
			kind.Findings = append(kind.Findings, AgentFinding{string(f.ID), f.Line, f.Message, f.Args})
		}
		out.Kinds = append(out.Kinds, kind)
	}
	return out, nil
}

// Definition and Place are those of package agentdef.
type (
	Definition = agentdef.Definition
	Place      = agentdef.Place
)
