package workbench_test

import (
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/profile"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/workbench"
)

// K-41, K-44: the naming of a session's tools decides whether lines of output
// are capped and how long a command may take. The user's own time limit
// overrides both.
func TestEffectsOfTheNaming(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		for _, tt := range []struct {
			naming profile.Naming
			set    int // the user's limit in seconds
			capped bool
			limit  string
		}{
			{"", 0, false, `"timeout":120000`},
			{profile.NamingNative, 0, false, `"timeout":120000`},
			{profile.NamingSpec, 0, true, `"timeout":10000`},
			{profile.NamingSpec, 30, true, `"timeout":30000`},
			{"", 30, false, `"timeout":30000`},
		} {
			t.Run(d.provider+"/"+string(tt.naming), func(t *testing.T) {
				t.Parallel()
				c := newCell(t, d, func(cfg *workbench.Config) { cfg.Naming = tt.naming })
				if tt.set > 0 {
					preferences := must[backend.Preferences](c.page, "preferences.get", backend.Empty{})
					preferences.CommandTimeout = tt.set
					must[backend.Preferences](c.page, "preferences.change", workbench.PreferencesChange{After: preferences})
				}
				c.says(llmtest.Use("shell", args{"command": "seq 1000 1399"})) // every profile understands it
				c.fine(c.turn("count"), 1)
				if got := strings.Contains(c.last(), "[... 1"); got != tt.capped {
					t.Errorf("lines are capped: %t, want %t", got, tt.capped)
				}
				if got := strings.Contains(c.last(), `1200\n1201`); got == tt.capped {
					t.Errorf("the middle is shown: %t", got)
				}
				c.mu.Lock()
				defer c.mu.Unlock()
				for _, ev := range c.events {
					if start, ok := ev.Data.(agent.ToolCallStart); ok && !strings.Contains(start.Input, tt.limit) {
						t.Errorf("the command ran with %s, want %s", start.Input, tt.limit)
					}
				}
			})
		}
	}
}

// LOOP-27: the specification's search takes a path, whichever vendor's models
// call it.
func TestSearchUnderTheSpecificationsNames(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		t.Run(d.provider, func(t *testing.T) {
			t.Parallel()
			c := newCell(t, d, func(cfg *workbench.Config) { cfg.Naming = profile.NamingSpec })
			c.put("a.go", "package needle\n")
			c.put("sub/c.go", "package needle\n")
			c.says(llmtest.Use("grep", args{"pattern": "needle", "path": "sub"}))
			ends := c.turn("find it")
			c.fine(ends, 1)
			if got := ends[0].Output; !strings.Contains(got, "sub/c.go") || strings.Contains(got, "a.go") {
				t.Errorf("found %s", got)
			}
		})
	}
}
