package hook

import (
	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/sandbox"
)

// Trace is what is kept of a hook to know what it was about once it is gone. It has
// nothing of what the hook runs, where there may be secrets.
type Trace struct {
	// Does tells whether another hook does the same.
	Does    string          `json:"does"`
	Name    string          `json:"name"`
	Point   agent.HookPoint `json:"point"`
	Matcher string          `json:"matcher,omitempty"`
	If      string          `json:"if,omitempty"`
	Defect  Defect          `json:"defect,omitempty"`
}

// Trace returns what may be kept of the hook.
func (h Handler) Trace() Trace {
	return Trace{Does: h.does(), Name: sandbox.Redact(h.Name), Point: h.Point, Matcher: h.Matcher, If: h.If, Defect: h.Defect}
}

// Handler returns the hook as far as it is known. It has the id that the hook had in
// its file, and nothing to run.
func (t Trace) Handler(o Origin) Handler {
	return Handler{
		Origin: o, Name: t.Name, Point: t.Point, Matcher: t.Matcher, If: t.If, Defect: t.Defect, rest: rest{does: t.Does},
	}
}
