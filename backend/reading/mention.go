package reading

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/mention"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/internal/text"
)

// Limits of what a message is given of a session that it mentions, in bytes.
const (
	maxSaid   = 4 << 10  // of one message, or of the summary of what was before
	maxQuoted = 32 << 10 // of all of them; the newest stay
)

// Sessions returns what a message attaches of a session that it mentions as "session:TITLE#ID":
// its title, the summary of its older part, what was asked and what was answered. Other names
// are no files of it.
func (r *Reader) Sessions(ctx context.Context) mention.Reader {
	return func(name string) (mention.File, bool) {
		rest, ok := strings.CutPrefix(name, "session:")
		at := strings.LastIndexByte(rest, '#')
		if !ok || at < 0 {
			return mention.File{}, false
		}
		info, err := r.project.Session(ctx, rest[at+1:])
		if err != nil {
			return mention.File{}, false // what is typed stays a word of the message
		}
		said, err := r.said(ctx, info)
		if err != nil {
			return mention.File{}, false
		}
		updated := time.UnixMilli(info.UpdatedAt).UTC().Format("2006-01-02 15:04")
		about := fmt.Sprintf("The session %q of this project, used last at %s UTC: what was said in it, without what its tools returned", info.Title, updated)
		return mention.File{About: about, Text: said}, true
	}
}

// said returns the newest messages of a session, the oldest of them first.
func (r *Reader) said(ctx context.Context, info backend.SessionInfo) (string, error) {
	var past agent.Transcript
	for after := int64(0); after < info.Seq; {
		events, err := r.store.Events(ctx, backend.EventRange{Session: info.ID, After: after, Limit: maxPage})
		if err != nil {
			return "", err
		}
		if len(events) == 0 {
			break
		}
		for _, ev := range events {
			if info.TookBack(ev.Seq) {
				past.ApplyTakenBack(ev)
			} else {
				past.Apply(ev)
			}
			after = ev.Seq
		}
	}
	var quoted []string
	left := maxQuoted
	for it := range past.Conversation().Backward() {
		who := map[contextir.ItemType]string{
			contextir.UserMessage: "User", contextir.SteeringMessage: "User", contextir.AssistantMessage: "Agent",
			contextir.CompactionSummary: "Summary of what was before",
		}[it.Type]
		words := strings.TrimSpace(it.Message.Text())
		if who == "" || words == "" || it.Dropped() {
			continue
		}
		if cut := text.Head(words, maxSaid); cut != words {
			words = cut + " […]"
		}
		if left -= len(words); left < 0 {
			quoted = append(quoted, "[What was before is left out.]")
			break
		}
		quoted = append(quoted, who+": "+words)
	}
	slices.Reverse(quoted)
	return strings.Join(quoted, "\n\n"), nil
}
