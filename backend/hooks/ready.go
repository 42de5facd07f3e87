package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/review"
	"atelier.dev/atelier/backend/trust"
)

// switched is what the user said about a hook.
type switched struct {
	ID string `json:"id"`
	On bool   `json:"on"`
}

// maxSwitched limits how many are remembered; the oldest are forgotten.
const maxSwitched = 1000

// gone is the readiness of a guard that is missed.
var gone = hook.Readiness{State: hook.StateChanged, Why: "it cannot be found in its file any more"}

// ready says whether a hook may run in a folder.
func (h *Hooks) ready(ctx context.Context, x hook.Handler, folder string) hook.Readiness {
	h.mu.Lock()
	known := h.list
	h.mu.Unlock()
	if known != nil && known.missing[x.ID()] {
		return gone
	}
	r, err := h.decided(ctx, x, folder)
	if err != nil {
		// The hook does not run, and what it guards is asked about.
		return hook.Readiness{State: hook.StateChanged, Why: "nobody can tell whether you trust it: " + err.Error()}
	}
	return r
}

// decided says what the user decided about a hook.
func (h *Hooks) decided(ctx context.Context, x hook.Handler, folder string) (hook.Readiness, error) {
	if x.Origin.File == "" {
		return hook.Readiness{State: hook.StateReady}, nil // of the program itself
	}
	on, err := h.on(ctx, x)
	if err != nil {
		return hook.Readiness{}, err
	}
	if !on {
		return hook.Readiness{State: hook.StateOff}, nil
	}
	state, err := h.cfg.Trust.Check(ctx, x.ID(), folder)
	if err != nil {
		return hook.Readiness{}, err
	}
	switch state {
	case trust.StateTrusted:
		return hook.Readiness{State: hook.StateReady}, nil
	case trust.StateChanged:
		return hook.Readiness{State: hook.StateChanged}, nil
	case trust.StateGone: // since the engine was told of it
		return gone, nil
	}
	r := hook.Readiness{State: hook.StateUntrusted, Why: string(state)}
	if state == trust.StateUnknown && x.Origin.Scope == hook.ScopeUser { // anybody can make a file that it happens to name
		r.Missed, r.Why = true, "it names files of the project that you have not trusted yet"
	}
	return r, nil
}

// foreign reports whether the user wrote a hook for another program.
func (h *Hooks) foreign(x hook.Handler) bool {
	return x.Origin.Scope == hook.ScopeUser && x.Origin.Form == hook.FormClaude
}

// on reports whether a hook is switched on.
func (h *Hooks) on(ctx context.Context, x hook.Handler) (bool, error) {
	all, err := h.switches(ctx)
	if err != nil {
		return false, err
	}
	if i := slices.IndexFunc(all, func(s switched) bool { return s.ID == x.ID() }); i >= 0 {
		return all[i].On, nil
	}
	return !h.foreign(x), nil
}

func (h *Hooks) switches(ctx context.Context) ([]switched, error) {
	text, err := h.cfg.Store.Setting(ctx, keySwitched) // which another process may have changed
	if err != nil {
		return nil, err
	}
	return switchesOf(text)
}

func switchesOf(text string) (all []switched, err error) {
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, backend.Problem(backend.ProblemSettingDamaged, keySwitched).Because(err)
	}
	return all, nil
}

// Switch switches a hook on or off.
func (h *Hooks) Switch(ctx context.Context, in HookSwitchRequest) (backend.Empty, error) {
	if _, _, ok := h.current(ctx).find(in.ID); !ok {
		return backend.Empty{}, errMissing
	}
	if err := h.turn(ctx, in); err != nil {
		return backend.Empty{}, err
	}
	h.again(ctx)
	return backend.Empty{}, nil
}

func (h *Hooks) turn(ctx context.Context, in HookSwitchRequest) error {
	h.changing.Lock()
	defer h.changing.Unlock()
	return h.cfg.Store.ChangeSetting(ctx, keySwitched, func(text string) (string, error) {
		all, err := switchesOf(text)
		if err != nil {
			return "", err
		}
		all = slices.DeleteFunc(all, func(s switched) bool { return s.ID == in.ID })
		all = append(all, switched(in))
		b, err := json.Marshal(all[max(0, len(all)-maxSwitched):])
		if err != nil {
			return "", fmt.Errorf("keep which hooks are off: %w", err)
		}
		return string(b), nil
	})
}

// UpdateItems implements [review.Owner].
func (h *Hooks) UpdateItems(ctx context.Context) (more bool) {
	for _, s := range h.current(ctx).sources {
		isCut := slices.ContainsFunc(s.findings, func(f hook.Finding) bool { return f.ID == hook.FindingTooMany })
		more = more || isCut && s.file.Scope != agent.ScopeUser
	}
	return more
}

// Decided implements [review.Owner]. A guard that vanished is not missed once the
// trust in it is revoked.
func (h *Hooks) Decided(ctx context.Context, id string, d review.TrustDecision) {
	if _, _, stands := h.current(ctx).find(id); !stands && d == review.Revoked {
		h.release(id)
	}
	h.decide(ctx, id)
}
