package guard

import (
	"context"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/permission/boundary"
	"atelier.dev/atelier/agent/permission/rule"
	"atelier.dev/atelier/backend/settings"
)

// Set returns the rules that hold now for a session and its agents. What cannot be
// read makes commands ask. It looks at the files each time, because each call is
// decided by what they say then; it makes a new set only if something has changed.
func (g *Guard) Set(ctx context.Context, session string) *rule.Set {
	files, unread := g.refresh(ctx, session)
	g.mu.Lock()
	set, version := g.sets[session], g.version
	latest := g.latest(files)
	own := g.sessions[session]
	g.mu.Unlock()
	if set == nil || !latest || !set.Fits(g.Place()) {
		set = rule.New(g.Place(), g.rules(files, own)).Within(bounds(files))
		g.mu.Lock()
		if latest && g.version == version {
			g.sets[session] = set
		}
		g.mu.Unlock()
	}
	if unread != "" {
		return set.Wary(unread)
	}
	return set
}

// found is what a file says and what of it the user accepted.
type found struct {
	file settings.File
	reading
	accepted []string
}

// latest reports whether nobody has read anything else since. The caller holds the
// lock.
func (g *Guard) latest(all []found) bool {
	return !slices.ContainsFunc(all, func(f found) bool { return g.read[f.file].text != f.text })
}

// refresh reads again what has changed. It returns what the files say and a name of
// what cannot be read, if there is such a thing.
func (g *Guard) refresh(ctx context.Context, session string) (all []found, unread string) {
	texts := g.settings.ReadAll()
	for i, f := range g.files {
		r, accepted, err := g.understand(ctx, f, texts[i])
		if r.err != nil || err != nil || r.unbound {
			unread = f.Path()
		}
		all = append(all, found{f, r, accepted})
	}
	if _, err := g.session(ctx, session); err != nil {
		unread = keySession + session
	}
	return all, unread
}

// bounds returns the lists of programs and paths of all files, the weakest first
// (OAS-641).
func bounds(files []found) boundary.Settings {
	var all boundary.Settings
	for _, f := range files {
		trusted := f.file.Scope == agent.ScopeUser || f.sandbox != nil && slices.Contains(f.accepted, digest("sandbox", string(f.sandbox)))
		all = all.And(f.bounds, trusted)
	}
	return all
}

// rules returns the rules of the files, without those that the user has not
// accepted, and of a session. Rules that have ended are among them: a set looks at
// the time itself.
func (g *Guard) rules(files []found, own []written) []rule.Rule {
	rules := slices.Clone(g.cfg.Rules)
	for _, f := range files {
		for _, w := range f.rules {
			if !unaccepted(f.file, w, f.accepted) {
				rules = append(rules, w.Rule)
			}
		}
	}
	for _, w := range own {
		rules = append(rules, w.Rule)
	}
	return rules
}

// changed drops the sets that were made, because rules have changed. The caller
// holds the lock.
func (g *Guard) changed() {
	g.version++
	clear(g.sets)
}
