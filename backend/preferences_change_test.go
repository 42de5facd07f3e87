package backend_test

import (
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"github.com/google/go-cmp/cmp"
)

// A page changes what its user chose there, and nothing that another page has
// changed since.
func TestPreferencesChanged(t *testing.T) {
	t.Parallel()
	stored := backend.Preferences{
		Theme: "dark", Editor: "code", NewSession: agent.Settings{Model: "m"},
		Fonts: backend.Fonts{Code: backend.Font{Family: "Hack"}}, Layout: backend.Layout{SidebarWidth: 300, PanelWidth: 500},
	}
	for name, tt := range map[string]struct {
		change func(before, after, want *backend.Preferences)
	}{
		"nothing":  {func(before, _, _ *backend.Preferences) { before.Theme = "" }},
		"a choice": {func(_, after, want *backend.Preferences) { after.Zoom, want.Zoom = 110, 110 }},
		"a choice is taken back": {func(before, after, want *backend.Preferences) {
			before.Editor, after.Editor, want.Editor = "vi", "", ""
		}},
		"one of several widths": {func(before, after, want *backend.Preferences) {
			before.Layout.SidebarWidth, after.Layout.SidebarWidth = 200, 200
			after.Layout.PanelWidth, want.Layout.PanelWidth = 436, 436
		}},
		"one of two fonts": {func(before, after, want *backend.Preferences) {
			before.Fonts, after.Fonts = backend.Fonts{}, backend.Fonts{}
			after.Fonts.Interface.Size, want.Fonts.Interface.Size = 16, 16
		}},
		"all fonts are reset": {func(before, after, want *backend.Preferences) {
			before.Fonts.Interface.Size, after.Fonts, want.Fonts = 16, backend.Fonts{}, backend.Fonts{}
		}},
		"a layout is reset": {func(_, after, want *backend.Preferences) {
			after.Layout, want.Layout = backend.Layout{}, backend.Layout{}
		}},
		"settings of new sessions are one choice": {func(before, after, want *backend.Preferences) {
			before.NewSession, after.NewSession = agent.Settings{Model: "x"}, agent.Settings{Provider: "p"}
			want.NewSession = agent.Settings{Provider: "p"}
		}},
	} {
		before, after, want := stored, stored, stored
		tt.change(&before, &after, &want)
		if name == "nothing" {
			after = before
		}
		got, err := stored.Changed(before, after)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}
