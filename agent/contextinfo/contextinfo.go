package contextinfo

import (
	"context"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/tokens"
)

// Session is what is asked about: an [agent.Session], or a host's form of one. Its
// Profiles, Facts and Compactor must be safe for concurrent use.
type Session interface {
	Config() agent.Config
	Latest() agent.Settings
}

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
	// [agent.Transcript.Context]. Before anything was counted it is an estimate of
	// the total, and Added is 0.
	Used int64 `json:"used"`
	// Counted says that Used is the provider's own count.
	Counted bool `json:"counted,omitempty"`
	// Added estimates what was added since.
	Added int64 `json:"added,omitempty"`
	// Reserved is the part of the window that compaction keeps free; 0 if it is
	// off.
	Reserved int64 `json:"reserved,omitempty"`
	// Margin is how far Used and Added may be off, in tokens; 0 if the provider counted
	// all of it.
	Margin int64 `json:"margin,omitempty"`
	// Parts leaves out empty kinds.
	Parts []ContextPart `json:"parts,omitempty"`
}

// Breakdown describes what fills the context of a conversation; past is the fold of
// the session's log, which the caller must own. It may be called from any goroutine,
// even while a turn runs, because it reads only the session's configuration. Of what no
// provider counted it counts [tokens.Enough] bytes, and takes the rest to be like them.
func Breakdown(ctx context.Context, s Session, past *agent.Transcript) ContextBreakdown {
	m := measure(ctx, s, past)
	return m.breakdown(s.Config(), past)
}

// measured is the size of everything in a context, in tokens.
type measured struct {
	model  llm.Origin
	header []HeaderItem
	items  []int64 // of each item of the conversation
	found  map[ContextKind]int64
	sum    int64
}

// measure estimates the size of everything in a context.
func measure(ctx context.Context, s Session, past *agent.Transcript) *measured {
	cfg, set := s.Config(), s.Latest()
	m := &measured{model: llm.Origin{Provider: set.Provider, Model: set.Model}, found: map[ContextKind]int64{}}
	briefing, ok := past.BriefingOf(m.model)
	if !ok { // the first request would create it
		briefing = cfg.Profiles.Brief(ctx, agent.BriefingInput{Provider: m.model.Provider, Model: m.model.Model, Mode: set.Mode, AtInput: true})
	}
	counter := tokens.Bounded(m.model.Provider, m.model.Model)
	m.header = headerOf(counter, briefing, cfg.Profiles.Profile(m.model.Provider, m.model.Model).Tools)
	for _, h := range m.header {
		m.found[h.kind()] += h.Tokens
	}
	m.items = make([]int64, 0, past.Conversation().Len())
	for it := range past.Conversation().Items() {
		size := int64(0)
		for _, p := range it.Message.Parts {
			if kind := kindOf(it, p, m.model); kind != "" {
				n := int64(counter.Part(p))
				m.found[kind] += n
				size += n
			}
		}
		m.items = append(m.items, size)
	}
	for _, n := range m.found {
		m.sum += n
	}
	return m
}

func (m *measured) breakdown(cfg agent.Config, past *agent.Transcript) ContextBreakdown {
	b := ContextBreakdown{
		Provider: m.model.Provider, Model: m.model.Model, Window: cfg.Facts.Limits(m.model.Provider, m.model.Model).Window,
		Used: past.Context,
	}
	b.Added, b.Counted = past.Counted()
	if c := cfg.Compactor; c != nil && b.Window > 0 {
		if threshold := c.Threshold(b.Window); threshold > 0 {
			b.Reserved = b.Window - threshold
		}
	}
	if past.Context == 0 {
		b.Used, b.Added = m.sum, 0
	}
	b.Margin = b.Added / marginOfBytes
	if !b.Counted {
		b.Margin += b.Used / marginOf(m.model)
	}
	b.Parts = scaled(m.found, m.sum, b.Used+b.Added)
	return b
}

const (
	// marginOfBytes is how far an estimate from bytes may be off, as a divisor, and
	// marginOfOthers one by another vendor's tokenizer. OpenAI's models differ from their
	// own tokenizer by what frames messages.
	marginOfBytes, marginOfOthers, marginOfOwn = 3, 5, 25
)

func marginOf(model llm.Origin) int64 {
	if model.Provider == "openai" || strings.HasPrefix(model.Model, "openai/") {
		return marginOfOwn
	}
	return marginOfOthers
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
