package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"atelier.dev/atelier/backend"
)

// switched is what the user said about a server or, with a tool, about that one.
type switched struct {
	Server string `json:"server"` // its key
	Tool   string `json:"tool,omitempty"`
	On     bool   `json:"on"`
}

// maxSwitched limits how many are remembered; the oldest are forgotten.
const maxSwitched = 2000

// switches are what the user said about servers and tools.
type switches []switched

// on says whether something is on, if the configuration says so by default.
func (x switches) on(server, tool string, otherwise bool) bool {
	for _, s := range x {
		if s.Server == server && s.Tool == tool {
			return s.On
		}
	}
	return otherwise
}

// The keys of what the user's own data keeps.
const (
	keySwitched = "mcp.switched"
	keySession  = "mcp.switched." // and the session
)

func (s *Servers) switches(ctx context.Context) (switches, error) {
	return s.switchesAt(ctx, keySwitched)
}

// switchesIn returns what is off in a session only.
func (s *Servers) switchesIn(ctx context.Context, session string) (switches, error) {
	if session == "" {
		return nil, nil
	}
	return s.switchesAt(ctx, keySession+session)
}

func (s *Servers) switchesAt(ctx context.Context, at string) (switches, error) {
	text, err := s.cfg.Store.Setting(ctx, at) // which another process may have changed
	if err != nil {
		return nil, err
	}
	return readSwitches(at, text)
}

// readSwitches reads a stored text; an empty one has no switches.
func readSwitches(at, text string) (all switches, err error) {
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, backend.Problem(backend.ProblemSettingDamaged, at).Because(err)
	}
	return all, nil
}

// Switch switches a server or a tool, everywhere or in a session.
func (s *Servers) Switch(ctx context.Context, in ServerSwitchRequest) (backend.Empty, error) {
	all, err := s.judge(ctx)
	if err != nil {
		return backend.Empty{}, err
	}
	x, err := find(all, in.Server, "")
	if err != nil {
		return backend.Empty{}, err
	}
	at := keySwitched
	if in.Session != "" {
		at = keySession + in.Session
	}
	if err := s.turn(ctx, at, switched{key(x.definition), in.Tool, in.On}); err != nil {
		return backend.Empty{}, err
	}
	s.again()
	s.cfg.Changed()
	return backend.Empty{}, nil
}

func (s *Servers) turn(ctx context.Context, at string, now switched) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	return s.cfg.Store.ChangeSetting(ctx, at, func(text string) (string, error) {
		all, err := readSwitches(at, text)
		if err != nil {
			return "", err
		}
		all = slices.DeleteFunc(all, func(o switched) bool { return o.Server == now.Server && o.Tool == now.Tool })
		if at == keySwitched || !now.On { // nothing is switched on in a session only
			all = append(all, now)
		}
		b, err := json.Marshal(all[max(0, len(all)-maxSwitched):])
		if err != nil {
			return "", fmt.Errorf("keep what is switched: %w", err)
		}
		return string(b), nil
	})
}

// ForgetSession forgets what was switched in a session that is deleted, and what
// was allowed to servers there.
func (s *Servers) ForgetSession(ctx context.Context, session string) error {
	if s.cfg.Questions != nil {
		s.cfg.Questions.Forget(session)
	}
	if text, err := s.cfg.Store.Setting(ctx, keySession+session); err != nil || text == "" {
		return err
	}
	return s.cfg.Store.SetSetting(ctx, keySession+session, "")
}
