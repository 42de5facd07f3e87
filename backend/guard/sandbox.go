package guard

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/permission/boundary"
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

// maxUnknown limits how many unknown members are named.
const maxUnknown = 20

// unknownMembers names the members of the settings of a sandbox that no part of the
// program reads, in order: a misspelt one would forbid nothing (K-51).
func unknownMembers(raw json.RawMessage) []string {
	unknown := strangers(raw, "", reflect.TypeFor[confine.Settings](), reflect.TypeFor[boundary.Settings]())
	slices.Sort(unknown)
	return unknown[:min(maxUnknown, len(unknown))]
}

func strangers(raw json.RawMessage, path string, known ...reflect.Type) []string {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil // which is told of the whole file
	}
	var unknown []string
	for name, value := range members {
		var field reflect.StructField
		for _, t := range known {
			for i := range t.NumField() {
				tag, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
				if strings.EqualFold(tag, name) {
					field = t.Field(i)
				}
			}
		}
		switch {
		case field.Type == nil:
			unknown = append(unknown, shorten(path+name))
		case field.Type.Kind() == reflect.Struct:
			unknown = append(unknown, strangers(value, path+name+".", field.Type)...)
		}
	}
	return unknown
}

// Hosts returns the hosts that rules allow and deny for a session and its agents.
func (g *Guard) Hosts(ctx context.Context, session string) (allowed, denied []string) {
	return g.Set(ctx, session).Hosts()
}
