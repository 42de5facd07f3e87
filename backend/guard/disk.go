package guard

import (
	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend/settings"
)

// reading is what was last read of a file.
type reading struct {
	content
	text *settings.Text
	err  error // why nothing of it holds
}

// needsConsent reports whether parts of the file hold only once the user has
// accepted them.
func (r reading) needsConsent(f settings.File) bool {
	return f.Scope != agent.ScopeUser && (r.sandbox != nil || len(r.rules) > 0)
}

// seal stands for everything that a file allows.
func (r reading) seal() string { return digest(r.pins()...) }

// pins stand for each part of a file that the user may accept.
func (r reading) pins() []string {
	var pins []string
	for _, w := range r.rules {
		if w.Decision == agent.Allow && w.err == nil {
			pins = append(pins, pin(w.Rule))
		}
	}
	if r.sandbox != nil {
		pins = append(pins, digest("sandbox", string(r.sandbox)))
	}
	return pins
}
