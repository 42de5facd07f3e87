package agent

import (
	"context"

	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/tokens"
)

// ContextKind is a kind of what fills a context window.
type ContextKind string

// The kinds, in the order in which a model reads them.
const (
	ContextTools     ContextKind = "tools"     // the definitions of the tools
	ContextSystem    ContextKind = "system"    // the system prompt without the documents
	ContextDocuments ContextKind = "documents" // what a project and a user say to agents
	ContextSummary   ContextKind = "summary"   // of what was taken out
	ContextPrompts   ContextKind = "prompts"   // what the user wrote
	ContextReminders ContextKind = "reminders" // what the loop told by itself
	ContextReasoning ContextKind = "reasoning"
	ContextAnswers   ContextKind = "answers" // texts and calls
	ContextResults   ContextKind = "results" // of calls, and of the user's commands
)

// ContextKinds lists them.
func ContextKinds() []ContextKind {
	return []ContextKind{
		ContextTools, ContextSystem, ContextDocuments, ContextSummary, ContextPrompts,
		ContextReminders, ContextReasoning, ContextAnswers, ContextResults,
	}
}

// ContextPart is how much of a context one kind takes, in tokens.
type ContextPart struct {
	Kind   ContextKind `json:"kind"`
	Tokens int64       `json:"tokens"`
}

// ContextBreakdown says what the next request to a model would hold, in tokens.
// How it divides into parts is an estimate: providers count only the whole. The
// parts are made to add up to Used and Added.
type ContextBreakdown struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Window is how many tokens the model takes; 0 is unknown.
	Window int64 `json:"window,omitempty"`
	// Used is what the newest request and its answer held, [Transcript.Context].
	// Before anything was counted it is an estimate of the whole, and Added is 0.
	Used int64 `json:"used"`
	// Counted says that Used is the provider's own count.
	Counted bool `json:"counted,omitempty"`
	// Added is what came since, an estimate.
	Added int64 `json:"added,omitempty"`
	// Reserved is what compaction keeps free of the window; 0 where it is off.
	Reserved int64 `json:"reserved,omitempty"`
	// Parts has no kind that takes nothing.
	Parts []ContextPart `json:"parts,omitempty"`
}

// tally says how [Transcript.Context] came about.
type tally struct {
	added   int  // bytes of text that came since
	items   int  // of the conversation that it holds; the others came since
	counted bool // a provider counted it, and nothing was taken out since
}

// tokens are about those of the text that came since.
func (t tally) tokens() int64 { return int64(t.added / bytesPerToken) }

// Breakdown says what fills the context of a conversation: past holds what the
// session's log adds up to. Unlike most methods it may be called from any
// goroutine, also while a turn runs, because it reads nothing of the session but
// its configuration: past must be a transcript of the caller's own, and Profiles,
// Facts and Compactor safe for concurrent use. It counts for [tokens.Patience] at
// most; what it does not get to it takes from its length.
func (s *Session) Breakdown(ctx context.Context, past *Transcript) ContextBreakdown {
	set := s.settings()
	who := llm.Origin{Provider: set.Provider, Model: set.Model}
	b := ContextBreakdown{
		Provider: who.Provider, Model: who.Model, Window: s.cfg.Facts.Limits(who.Provider, who.Model).Window,
		Used: past.Context, Counted: past.tally.counted, Added: past.tally.tokens(),
	}
	if c := s.cfg.Compactor; c != nil && b.Window > 0 {
		if threshold := c.Threshold(b.Window); threshold > 0 {
			b.Reserved = b.Window - threshold
		}
	}
	found := s.weigh(ctx, who, set.Mode, past)
	var sum int64
	for _, n := range found {
		sum += n
	}
	if past.Context == 0 {
		b.Used, b.Added = sum, 0
	}
	b.Parts = scaled(found, sum, b.Used+b.Added)
	return b
}

// weigh estimates what each kind takes.
func (s *Session) weigh(ctx context.Context, who llm.Origin, mode Mode, past *Transcript) map[ContextKind]int64 {
	briefing, ok := past.past.briefed[who]
	if !ok { // it would be asked for with the first request
		briefing = s.cfg.Profiles.Brief(ctx, Situation{Provider: who.Provider, Model: who.Model, Mode: mode, AtInput: true})
	}
	counter := tokens.NewCounter(who.Provider, who.Model, tokens.Patience)
	found := map[ContextKind]int64{}
	told := 0
	for _, d := range briefing.Documents {
		told += d.Told
	}
	system := int64(counter.Text(briefing.System))
	found[ContextDocuments] = system * int64(min(told, len(briefing.System))) / int64(max(1, len(briefing.System)))
	found[ContextSystem] = system - found[ContextDocuments]
	for _, t := range s.cfg.Profiles.Profile(who.Provider, who.Model).Tools.Definitions() {
		found[ContextTools] += int64(counter.Text(t.Name) + counter.Text(t.Description) + counter.Text(string(t.Schema)))
	}
	for it := range past.conversation.Items() {
		for _, p := range it.Message.Parts {
			if kind := kindOf(it, p, who); kind != "" {
				found[kind] += int64(counter.Part(p))
			}
		}
	}
	return found
}

// kindOf says what a part of an item is; empty for what a model is not sent:
// another one's reasoning.
func kindOf(it contextir.Item, p llm.Part, who llm.Origin) ContextKind {
	switch it.Type {
	case contextir.AssistantMessage:
		if p.Reasoning == nil {
			return ContextAnswers
		}
		if by := it.Message.Origin; by == nil || by.Provider != who.Provider || by.Model != who.Model {
			return ""
		}
		return ContextReasoning
	case contextir.ToolResult, contextir.LocalCommand:
		return ContextResults
	case contextir.SystemReminder:
		return ContextReminders
	case contextir.CompactionSummary:
		return ContextSummary
	}
	return ContextPrompts
}

// scaled makes parts add up to a whole, each in proportion, in the order of
// their kinds.
func scaled(found map[ContextKind]int64, sum, whole int64) []ContextPart {
	var parts []ContextPart
	var before, given int64
	for _, kind := range ContextKinds() {
		before += found[kind]
		upTo := int64(float64(before) / float64(max(1, sum)) * float64(whole)) // so that nothing is lost to rounding
		if n := upTo - given; n > 0 {
			parts = append(parts, ContextPart{Kind: kind, Tokens: n})
		}
		given = upTo
	}
	return parts
}
