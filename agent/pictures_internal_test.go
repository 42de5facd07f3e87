package agent

import (
	"testing"

	"atelier.dev/atelier/agent/llm"
)

// Pictures of messages that are not in the conversation any more are not kept.
func TestFittedPicturesAreThoseOfTheConversation(t *testing.T) {
	t.Parallel()
	turn := &turn{session: &Session{}}
	for range 3 {
		parts := []llm.Part{{Kind: llm.PartMedia, Media: &llm.Media{MIME: "image/png", URL: "https://x.example/a.png"}}}
		turn.fitPictures(llm.Origin{}, llm.ModelLimits{}, []llm.Message{{Role: llm.RoleUser, Parts: parts}})
		if kept := turn.session.fitted.parts; len(kept) != 1 || kept[&parts[0]] == nil {
			t.Errorf("%d messages are kept", len(kept))
		}
	}
}
