package feed

import (
	"encoding/json"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/internal/text"
)

// displayLimit limits one text that a page is sent, in bytes. The page reads
// the rest with conversation.event when a user wants to see it.
const displayLimit = 16 << 10

// answerLimit is the same for the text of an answer, and for its reasoning. It
// is longer than any sensible answer.
const answerLimit = 64 << 10

// ForDisplay returns the event in the form for a page: without data that only
// providers need, and with long texts cut. Anything that a person must decide
// about is never cut.
func ForDisplay(ev agent.Event) agent.Event {
	switch d := ev.Data.(type) {
	case agent.UserInput:
		d.Text, d.Typed, d.Size = displayPrompt(d.Text, d.Typed)
		if d.Skill != nil { // its arguments are in what was typed
			use := *d.Skill
			use.Args, d.Skill = "", &use
		}
		d.Media = withoutData(d.Media)
		ev.Data = d
	case agent.SteeringInjected:
		d.Text, d.Typed, d.Size = displayPrompt(d.Text, d.Typed)
		d.Media = withoutData(d.Media)
		ev.Data = d
	case agent.Briefing:
		d.System, d.Size = middleCut(d.System)
		ev.Data = d
	case agent.BriefingUpdate:
		d.Text, d.Size = middleCut(d.Text)
		ev.Data = d
	case agent.TextEnd:
		d.Message, d.Size = displayMessage(d.Message)
		ev.Data = d
	case agent.LocalCommandEnd:
		d.ModelOutput = nil
		d.Output, d.Size = middleCut(d.Output)
		d.Files = displayFiles(d.Files)
		ev.Data = d
	case agent.HookEnd:
		d.Files = displayFiles(d.Files)
		ev.Data = d
	case agent.FilesRestored:
		d.FilesChanged = *displayFiles(&d.FilesChanged)
		ev.Data = d
	case agent.ToolCallEnd:
		d.ModelOutput = nil
		d.Media = withoutData(d.Media)
		d.Details = displayDetails(d.Details)
		d.Output, d.Size = middleCut(d.Output)
		d.Files = displayFiles(d.Files)
		ev.Data = d
	}
	return ev
}

// withoutData returns media by name and type only.
func withoutData(media []llm.Media) []llm.Media {
	media = slices.Clone(media)
	for i := range media {
		media[i].Data = nil
	}
	return media
}

// displayDetails leaves out the data of sounds, and what only models are told of what a
// tool keeps.
func displayDetails(d *agent.Details) *agent.Details {
	if d != nil && d.Kept != nil {
		kept := *d.Kept
		kept.Text = ""
		return &agent.Details{Kept: &kept}
	}
	if d == nil || d.Server == nil || len(d.Server.Sounds) == 0 {
		return d
	}
	server := *d.Server
	server.Sounds = withoutData(server.Sounds)
	return &agent.Details{Server: &server}
}

// filesLimit limits how many changed files of one step a page is sent.
const filesLimit = 50

// displayFiles returns the files that a step changed, and counts those beyond the
// limit.
func displayFiles(all *agent.FilesChanged) *agent.FilesChanged {
	if all == nil || len(all.Files) <= filesLimit {
		return all
	}
	cut := *all
	cut.Files, cut.More = all.Files[:filesLimit], all.More+len(all.Files)-filesLimit
	return &cut
}

// displayMessage returns a message for display, and its full size if it was
// cut.
func displayMessage(m llm.Message) (out llm.Message, size int64) {
	m.Parts = slices.Clone(m.Parts)
	var texts, reasoning []*string
	for i := range m.Parts {
		p := &m.Parts[i]
		p.Native = nil
		if p.Reasoning != nil {
			p.Reasoning = &llm.Reasoning{Text: p.Reasoning.Text}
			reasoning = append(reasoning, &p.Reasoning.Text)
		}
		if p.Call != nil {
			p.Call = &llm.ToolCall{ID: p.Call.ID, Name: p.Call.Name, Arguments: displayArguments(p.Call.Arguments)}
		}
		if p.Kind == llm.PartText {
			texts = append(texts, &p.Text)
		}
	}
	whole := length(texts) + length(reasoning)
	cutText, cutReasoning := middleCutAll(texts), middleCutAll(reasoning)
	if cutText || cutReasoning {
		size = int64(whole)
	}
	return m, size
}

// argumentsLimit limits the arguments that a page is sent with a message, in bytes.
const argumentsLimit = 512

// displayArguments returns arguments that are short, so that a page can say what a
// call will do that waits for the one before it. All arguments come with
// tool_call_start.
func displayArguments(arguments json.RawMessage) json.RawMessage {
	if len(arguments) > argumentsLimit {
		return nil
	}
	return arguments
}

func length(texts []*string) int {
	n := 0
	for _, s := range texts {
		n += len(*s)
	}
	return n
}

// displayPrompt cuts a message of the user, and what was typed of it. It returns the full
// size of the longer one that it cut, else 0.
func displayPrompt(text, typed string) (keptText, keptTyped string, size int64) {
	keptText, size = middleCut(text)
	keptTyped, typedSize := middleCut(typed)
	return keptText, keptTyped, max(size, typedSize)
}

// middleCutAll keeps the beginning and the end of consecutive texts. It reports
// whether anything was cut.
func middleCutAll(texts []*string) bool {
	front, back := answerLimit/2, length(texts)-answerLimit/2 // the middle is left out
	if back <= front {
		return false
	}
	at := 0
	for _, s := range texts {
		begin, end := at, at+len(*s)
		at = end
		if end <= front || begin >= back {
			continue
		}
		kept := ""
		if begin <= front {
			kept = text.Head(*s, front-begin) + "\n…\n"
		}
		if end > back {
			kept += text.Tail(*s, end-back)
		}
		*s = kept
	}
	return true
}

// middleCut keeps the beginning and the end of a long text. It returns the full
// size of a text that it cut, else 0.
func middleCut(s string) (kept string, size int64) {
	if len(s) <= displayLimit {
		return s, 0
	}
	kept = text.Head(s, displayLimit/2) + "\n…\n" + text.Tail(s, displayLimit/2)
	return kept, int64(len(s))
}
