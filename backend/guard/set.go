package guard

import (
	"context"
	"slices"

	"atelier.dev/atelier/agent/permission/rule"
)

// Set returns the rules that hold now for a session and its agents. What cannot be
// read makes commands ask. It looks at the files each time, because each call is
// decided by what they say then; it makes a new set only if something has changed.
func (g *Guard) Set(ctx context.Context, session string) *rule.Set {
	unread := g.refresh(ctx, session)
	g.mu.Lock()
	set, version := g.sets[session], g.version
	g.mu.Unlock()
	if set == nil || !set.Fits(g.Place()) {
		set = rule.New(g.Place(), g.rules(session))
		g.mu.Lock()
		if g.version == version {
			g.sets[session] = set
		}
		g.mu.Unlock()
	}
	if unread != "" {
		return set.Wary(unread)
	}
	return set
}

// refresh reads again what has changed. It returns a name of what cannot be read,
// if there is such a thing.
func (g *Guard) refresh(ctx context.Context, session string) (unread string) {
	for _, f := range g.files {
		if r, _, err := g.look(ctx, f); r.err != nil || err != nil {
			unread = f.Path()
		}
	}
	if _, err := g.session(ctx, session); err != nil {
		unread = keySession + session
	}
	return unread
}

// rules returns the rules as they were last read, without those of files that the
// user has not accepted. Rules that have ended are among them: a set looks at the
// time itself.
func (g *Guard) rules(session string) []rule.Rule {
	read, accepted := make([]reading, len(g.files)), make([][]string, len(g.files))
	g.mu.Lock()
	for i, f := range g.files {
		read[i], accepted[i] = g.read[f], g.accepted[f]
	}
	own := g.sessions[session]
	g.mu.Unlock()

	rules := slices.Clone(g.cfg.Rules)
	for i, f := range g.files {
		for _, w := range read[i].rules {
			if !unaccepted(f, w, accepted[i]) {
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
