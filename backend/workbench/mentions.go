package workbench

import (
	"context"
	"strings"

	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/attach"
)

// attaching returns the files that a message or a skill of a session may mention, and for
// messages the sessions.
func (w *Workbench) attaching(ctx context.Context, info backend.SessionInfo) (attach.Mentions, error) {
	gate, err := w.gate(info, w.outputFolder(info.ID))
	if err != nil {
		return attach.Mentions{}, err
	}
	files, err := env.NewLocal(w.folderOf(info))
	if err != nil {
		return attach.Mentions{}, err
	}
	return attach.NewMentions(ctx, gate, files).And(w.reader.Sessions(ctx)), nil
}

// attached returns what stands behind a message that waited: the files that it mentions, as
// they are now. Messages to an agent are written by models, which read for themselves.
func (w *Workbench) attached(info backend.SessionInfo) func(context.Context, string) (string, []llm.Media) {
	if info.Helper != nil {
		return nil
	}
	return func(ctx context.Context, text string) (string, []llm.Media) {
		if !strings.Contains(text, "@") {
			return "", nil
		}
		mentions, err := w.attaching(ctx, info)
		if err != nil {
			return "", nil // the names stay words, as those of files that cannot be read do
		}
		return mentions.Attached(text)
	}
}
