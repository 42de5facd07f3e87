package toolbox_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/toolbox"
)

// OAS-327: every preference that is offered can be read and set, and no other one: no keys,
// modes, rules, hooks or programs.
func TestChoices(t *testing.T) {
	t.Parallel()
	var stored backend.Preferences
	c := toolbox.Choices{
		Get: func(context.Context, backend.Empty) (backend.Preferences, error) { return stored, nil },
		Change: func(_ context.Context, before, after backend.Preferences) (backend.Preferences, error) {
			var err error
			stored, err = stored.Changed(before, after)
			return stored, err
		},
	}
	all, err := c.List(t.Context())
	if err != nil || len(all) < 10 {
		t.Fatal(all, err)
	}
	for _, s := range all {
		value := json.RawMessage("true")
		switch {
		case s.Choices != nil:
			value, _ = json.Marshal(s.Choices[1])
		case string(s.Value) == "0":
			value = json.RawMessage("7")
		}
		if err := c.Set(t.Context(), s.Key, value); err != nil {
			t.Errorf("%s: %v", s.Key, err)
		}
		now, err := c.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range now {
			if n.Key == s.Key && string(n.Value) != string(value) {
				t.Errorf("%s is %s, not %s", s.Key, n.Value, value)
			}
		}
	}
	if stored.Theme != "light" || stored.Patience != 7 || !stored.NoLanguageServers || stored.Compact != backend.CompactAtShare {
		t.Errorf("stored: %+v", stored)
	}
	before, _ := json.Marshal(stored)
	for _, key := range []string{"new_session", "sandbox", "tools_off", "editor", "levels", "agent_depth", "guide", "keys", ""} {
		if err := c.Set(t.Context(), key, json.RawMessage(`"bypass"`)); err == nil {
			t.Errorf("%q was set", key)
		}
	}
	if err := c.Set(t.Context(), "zoom", json.RawMessage(`"wide"`)); err == nil || !strings.Contains(err.Error(), "kind") {
		t.Errorf("a value of another kind: %v", err)
	}
	if after, _ := json.Marshal(stored); string(after) != string(before) {
		t.Errorf("what was refused has changed %s to %s", before, after)
	}
}
