package contexts

import (
	"context"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/shorten"
	"atelier.dev/atelier/backend"
)

// Shortener returns what shortens the long results of a session's tools for [agent.Config], unless
// the user has them cut. limited reports whether a tool has a limit of its own, and ask has a small
// model answer.
func Shortener(store backend.Settings, limited func(tool string) bool, ask func(ctx context.Context, instructions, material string) (string, []agent.SideRequest, error)) func(ctx context.Context, tool, output string, spent func(agent.SideRequest)) *string {
	applies := func(ctx context.Context, tool string) bool {
		prefs, err := backend.StoredPreferences(ctx, store)
		return err == nil && !prefs.CutResults && !limited(tool) && tool != "Skill" // whose text is to be followed
	}
	return shorten.New(shorten.Config{Applies: applies, Ask: ask})
}
