package hooks

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/backend/trust"
)

// guarded is what is kept of a file's guards.
type guarded struct {
	// InForce were in force when all guards of the file had been decided about.
	InForce []hook.Trace `json:"in_force,omitempty"`
	// Missed vanished while a program ran.
	Missed []hook.Trace `json:"missed,omitempty"`
}

// guards reports whether a hook can stop calls.
func guards(x hook.Handler) bool {
	return (x.Point == agent.HookPreToolUse || x.Point == agent.HookPermissionRequest) && !x.Terms.Async
}

// settle returns the guards of a file that were in force and cannot be found any
// more. Once the user has decided about all guards that stand there, they count
// instead; but what was trusted and vanished while the program ran, such as by a
// change of the branch, is missed until the user revokes the trust in it, even after
// a restart. A guard that vanished while no program ran is not missed.
func (h *Hooks) settle(ctx context.Context, s *source) (missing []hook.Handler) {
	path := s.file.Path()
	s.unsure, s.undecided = false, s.err != nil
	known, err := h.guarded(ctx, path)
	if err != nil {
		slog.Warn("could not read which hooks guard calls", "file", path, "err", err)
		s.unsure, s.undecided = true, true
	}
	force := h.inForce(ctx, s)
	lost, missed := h.lost(s, known.InForce), h.lost(s, known.Missed)
	h.mu.Lock()
	settled := h.settled[path]
	h.mu.Unlock()
	if !settled && !s.undecided {
		lost = nil
	}
	for _, x := range slices.Concat(missed, lost) {
		twice := slices.ContainsFunc(missing, func(y hook.Handler) bool { return y.ID() == x.ID() })
		if !twice && len(missing) < maxMissed && (s.undecided || h.misses(ctx, s, x)) {
			missing = append(missing, x)
		}
	}
	now := guarded{force, traces(missing)}
	if s.undecided {
		now = guarded{slices.DeleteFunc(known.InForce, func(t hook.Trace) bool { return h.wasReleased(s.known(t).ID()) }), traces(missed)}
		if settled {
			now.Missed = traces(missing)
		}
	}
	if err == nil {
		err = h.remember(ctx, path, now)
	}
	if err != nil {
		slog.Warn("could not keep which hooks guard calls", "file", path, "err", err)
		s.unsure = true
	}
	return h.settledWith(s, missing)
}

// settledWith takes note that a file was judged, and returns what of it is missed now.
func (h *Hooks) settledWith(s *source, missing []hook.Handler) []hook.Handler {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !s.undecided {
		for _, x := range s.handlers {
			delete(h.released, x.ID())
		}
		h.settled[s.file.Path()] = true
		if h.trustedForRun && hook.Scope(s.file.Scope) != hook.ScopeUser {
			return nil
		}
	}
	return missing
}

// inForce returns the guards of a file that are in force, and sets whether some wait
// for the user's decision.
func (h *Hooks) inForce(ctx context.Context, s *source) (force []hook.Trace) {
	if s.judged == nil {
		s.judged = map[string]judgement{}
	}
	for _, x := range s.handlers {
		if !guards(x) {
			continue
		}
		id := x.ID()
		j, known := s.judged[id]
		if !known {
			var err error
			if j, err = h.judge(ctx, x); err != nil {
				s.unsure, s.undecided = true, true
				continue
			}
			s.judged[id] = j
		}
		if s.undecided = s.undecided || j.undecided; j.inForce {
			force = append(force, x.Trace())
		}
	}
	return force
}

// judge says what the user decided about a guard.
func (h *Hooks) judge(ctx context.Context, x hook.Handler) (judgement, error) {
	r, err := h.decided(ctx, x, h.cfg.Folder)
	if err != nil {
		return judgement{}, err
	}
	switch r.State {
	case hook.StateReady:
		return judgement{inForce: true}, nil
	case hook.StateUntrusted:
		return judgement{undecided: r.Why != string(trust.StateRefused)}, nil
	case hook.StateChanged:
		return judgement{undecided: true}, nil
	}
	return judgement{}, nil
}

// known returns what is known of a hook that the file had.
func (s *source) known(t hook.Trace) hook.Handler {
	return t.Handler(hook.Origin{Scope: hook.Scope(s.file.Scope), File: s.file.Path(), Form: form(s.file)})
}

// lost returns those of a file's guards that do not stand in it. Guards that the
// user removed do not count.
func (h *Hooks) lost(s *source, before []hook.Trace) (out []hook.Handler) {
	for _, t := range before {
		x := s.known(t)
		stands := slices.ContainsFunc(s.handlers, func(y hook.Handler) bool { return y.ID() == x.ID() })
		if !stands && !h.wasReleased(x.ID()) {
			out = append(out, x)
		}
	}
	return out
}

// maxMissed limits how many guards of a file are missed.
const maxMissed = 200

// misses reports whether a guard that vanished is missed. The user's own needs no
// trust that could be revoked, and what stands at the same event takes its place.
func (h *Hooks) misses(ctx context.Context, s *source, x hook.Handler) bool {
	kept, err := h.cfg.Trust.Keeps(ctx, trust.KindHook, x.ID())
	if err != nil {
		slog.Warn("could not read whether a hook is still trusted", "file", s.file.Path(), "err", err)
		s.unsure = true
	}
	if kept || err != nil {
		return true
	}
	return x.Origin.Scope == hook.ScopeUser && !slices.ContainsFunc(s.handlers, func(y hook.Handler) bool { return y.Point == x.Point })
}

// release marks a hook that the user removes, so that it does not count as missed.
func (h *Hooks) release(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.released[id] = true
}

func (h *Hooks) wasReleased(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.released[id]
}

// The keys of what the user's own data keeps.
const (
	keyGuards   = "hooks.guards."
	keySwitched = "hooks.switched"
)

// guarded returns what is kept of a file's guards.
func (h *Hooks) guarded(ctx context.Context, path string) (g guarded, err error) {
	h.mu.Lock()
	text, read := h.kept[path]
	h.mu.Unlock()
	if !read {
		if text, err = h.cfg.Store.Setting(ctx, keyGuards+path); err != nil {
			return g, err
		}
	}
	if text != "" {
		if err := json.Unmarshal([]byte(text), &g); err != nil {
			return g, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept[path] = text
	return g, nil
}

// remember keeps what is known of a file's guards.
func (h *Hooks) remember(ctx context.Context, path string, now guarded) error {
	text := ""
	if len(now.InForce)+len(now.Missed) > 0 {
		b, err := json.Marshal(now)
		if err != nil {
			return err
		}
		text = string(b)
	}
	h.mu.Lock()
	before := h.kept[path]
	h.mu.Unlock()
	if before == text {
		return nil
	}
	if err := h.cfg.Store.SetSetting(ctx, keyGuards+path, text); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept[path] = text
	return nil
}

func traces(all []hook.Handler) (out []hook.Trace) {
	for _, x := range all {
		out = append(out, x.Trace())
	}
	return out
}
