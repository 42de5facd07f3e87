package guard

import (
	"context"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/sandbox/confine"
)

// Sandbox returns the members "sandbox" of the files, the weakest first. Those of
// a project are trusted once the user has accepted them.
func (g *Guard) Sandbox(ctx context.Context) []confine.Layer {
	layers := make([]confine.Layer, 0, len(g.files))
	for _, f := range g.files {
		r, accepted, err := g.look(ctx, f)
		l := confine.Layer{Trusted: f.Scope == agent.ScopeUser, Broken: r.err != nil || err != nil}
		if r.sandbox != nil {
			l.Trusted = l.Trusted || slices.Contains(accepted, digest("sandbox", string(r.sandbox)))
			if l.Settings, err = confine.Parse(r.sandbox); err != nil {
				l.Broken = true
			}
		}
		layers = append(layers, l)
	}
	return layers
}
