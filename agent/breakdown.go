package agent

import (
	"context"

	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/tokens"
)

// ContextKind is a kind of content in a context window.
type ContextKind string

// The kinds, in the order in which a model reads them.
const (
	ContextTools     ContextKind = "tools"     // the definitions of the tools
	ContextSystem    ContextKind = "system"    // the system prompt without the documents
	ContextDocuments ContextKind = "documents" // instructions for agents from project and user
	ContextSummary   ContextKind = "summary"   // of what was taken out
	ContextPrompts   ContextKind = "prompts"   // what the user wrote
	ContextReminders ContextKind = "reminders" // messages that the loop adds on its own
	ContextReasoning ContextKind = "reasoning"
	ContextAnswers   ContextKind = "answers" // texts and calls
	ContextResults   ContextKind = "results" // results of calls and of the user's commands
)

// ContextKinds lists the kinds.
func ContextKinds() []ContextKind {
	return []ContextKind{
		ContextTools, ContextSystem, ContextDocuments, ContextSummary, ContextPrompts,
		ContextReminders, ContextReasoning, ContextAnswers, ContextResults,
	}
}

// ContextPart is the share of one kind in a context, in tokens.
type ContextPart struct {
	Kind   ContextKind `json:"kind"`
	Tokens int64       `json:"tokens"`
}

// ContextBreakdown describes the content of the next request to a model, in
// tokens. The division into parts is an estimate, because providers count only
// the total. The parts are scaled to add up to Used and Added.
type ContextBreakdown struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Window is the size of the model's context window in tokens; 0 means
	// unknown.
	Window int64 `json:"window,omitempty"`
	// Used is the size of the newest request and its answer,
	// [Transcript.Context]. Before anything was counted it is an estimate of
	// the total, and Added is 0.
	Used int64 `json:"used"`
	// Counted says that Used is the provider's own count.
	Counted bool `json:"counted,omitempty"`
	// Added estimates what was added since.
	Added int64 `json:"added,omitempty"`
	// Reserved is the part of the window that compaction keeps free; 0 if it is
	// off.
	Reserved int64 `json:"reserved,omitempty"`
	// Parts leaves out empty kinds.
	Parts []ContextPart `json:"parts,omitempty"`
}

// tally records how [Transcript.Context] was counted.
type tally struct {
	added   int  // bytes of text added since
	items   int  // items of the conversation that were counted; the others came later
	counted bool // a provider counted it, and nothing was removed since
}

// tokens estimates the tokens of the text added since.
func (t tally) tokens() int64 { return int64(t.added / bytesPerToken) }

// Breakdown describes what fills the context of a conversation; past is the
// fold of the session's log. Unlike most methods, Breakdown may be called from
// any goroutine, even while a turn runs, because it reads only the session's
// configuration. The caller must own the past transcript, and Profiles, Facts
// and Compactor must be safe for concurrent use. Breakdown counts for at most
// [tokens.Patience]; it estimates the rest from its length.
func (s *Session) Breakdown(ctx context.Context, past *Transcript) ContextBreakdown {
	set := s.Latest()
	model := llm.Origin{Provider: set.Provider, Model: set.Model}
	b := ContextBreakdown{
		Provider: model.Provider, Model: model.Model, Window: s.cfg.Facts.Limits(model.Provider, model.Model).Window,
		Used: past.Context, Counted: past.tally.counted, Added: past.tally.tokens(),
	}
	if c := s.cfg.Compactor; c != nil && b.Window > 0 {
		if threshold := c.Threshold(b.Window); threshold > 0 {
			b.Reserved = b.Window - threshold
		}
	}
	found := s.weigh(ctx, model, set.Mode, past)
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

// weigh estimates the size of each kind.
func (s *Session) weigh(ctx context.Context, model llm.Origin, mode Mode, past *Transcript) map[ContextKind]int64 {
	briefing, ok := past.past.briefed[model]
	if !ok { // the first request would create it
		briefing = s.cfg.Profiles.Brief(ctx, Situation{Provider: model.Provider, Model: model.Model, Mode: mode, AtInput: true})
	}
	counter := tokens.NewCounter(model.Provider, model.Model, tokens.Patience)
	found := map[ContextKind]int64{}
	told := 0
	for _, d := range briefing.Documents {
		told += d.Told
	}
	system := int64(counter.Text(briefing.System))
	found[ContextDocuments] = system * int64(min(told, len(briefing.System))) / int64(max(1, len(briefing.System)))
	found[ContextSystem] = system - found[ContextDocuments]
	for _, t := range s.cfg.Profiles.Profile(model.Provider, model.Model).Tools.Definitions() {
		found[ContextTools] += int64(counter.Text(t.Name) + counter.Text(t.Description) + counter.Text(string(t.Schema)))
	}
	for it := range past.conversation.Items() {
		for _, p := range it.Message.Parts {
			if kind := kindOf(it, p, model); kind != "" {
				found[kind] += int64(counter.Part(p))
			}
		}
	}
	return found
}

// kindOf returns the kind of an item's part. It is empty for another model's
// reasoning, which is not sent.
func kindOf(it contextir.Item, p llm.Part, model llm.Origin) ContextKind {
	switch it.Type {
	case contextir.AssistantMessage:
		if p.Reasoning == nil {
			return ContextAnswers
		}
		if by := it.Message.Origin; by == nil || by.Provider != model.Provider || by.Model != model.Model {
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

// scaled scales parts to add up to whole, in proportion and in the order of
// their kinds.
func scaled(found map[ContextKind]int64, sum, whole int64) []ContextPart {
	var parts []ContextPart
	var before, given int64
	for _, kind := range ContextKinds() {
		before += found[kind]
		upTo := int64(float64(before) / float64(max(1, sum)) * float64(whole)) // so that rounding loses nothing
		if n := upTo - given; n > 0 {
			parts = append(parts, ContextPart{Kind: kind, Tokens: n})
		}
		given = upTo
	}
	return parts
}
