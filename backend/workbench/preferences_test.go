package workbench_test

import (
	"sync"
	"testing"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/workbench"
)

// Pages that change different preferences at the same time lose none.
func TestPreferencesChangedAtOnce(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), withoutKey)
	before := must[backend.Preferences](p, "preferences.get", backend.Empty{})
	var pages sync.WaitGroup
	for _, change := range []func(*backend.Preferences){
		func(p *backend.Preferences) { p.Theme = "dark" },
		func(p *backend.Preferences) { p.Zoom = 110 },
		func(p *backend.Preferences) { p.PlainTitles = true },
		func(p *backend.Preferences) { p.LongCache = true },
		func(p *backend.Preferences) { p.Patience = 45 },
		func(p *backend.Preferences) { p.Layout.SidebarWidth = 300 },
		func(p *backend.Preferences) { p.Layout.PanelWidth = 436 },
		func(p *backend.Preferences) { p.Fonts.Code.Size = 14 },
		func(p *backend.Preferences) { p.Fonts.Interface.Size = 15 },
	} {
		after := before
		change(&after)
		pages.Go(func() {
			if _, err := call[backend.Preferences](p, "preferences.change", workbench.PreferencesChange{Before: before, After: after}); err != nil {
				t.Error(err)
			}
		})
	}
	pages.Wait()
	got := must[backend.Preferences](p, "preferences.get", backend.Empty{})
	if got.Theme != "dark" || got.Zoom != 110 || !got.PlainTitles || !got.LongCache || got.Patience != 45 ||
		got.Layout.SidebarWidth != 300 || got.Layout.PanelWidth != 436 || got.Fonts.Code.Size != 14 || got.Fonts.Interface.Size != 15 {
		t.Errorf("%+v", got)
	}
}
