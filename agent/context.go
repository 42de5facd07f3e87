package agent

import (
	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
)

// ContextMarked says what a person decided about items of the conversation, by their
// ids. It stands in the log between turns.
type ContextMarked struct {
	Mark  contextir.Mark `json:"mark"`
	Items []string       `json:"items,omitempty"`
}

// CompactionUndone takes a compaction back: models are shown again what it replaced.
// A session has to be opened again from its log after this event. Until the settings
// change or a compaction succeeds, none begins by itself unless a provider refuses the
// conversation for its length.
type CompactionUndone struct {
	// Compaction is the place of its [CompactionEnd] in the log.
	Compaction int64 `json:"compaction"`
	// Tokens estimates the size of the context afterwards.
	Tokens int64 `json:"tokens"`
}

// Kind implements [Payload].
func (ContextMarked) Kind() Kind    { return KindContextMarked }
func (CompactionUndone) Kind() Kind { return KindCompactionUndone }

// tally records how [Transcript.Context] was counted.
type tally struct {
	added   int  // bytes of text added since
	items   int  // items of the conversation that were counted; the others came later
	counted bool // a provider counted it, and nothing was removed since
}

// tokens estimates the tokens of the text added since.
func (t tally) tokens() int64 { return int64(t.added / bytesPerToken) }

// Conversation returns the items of the conversation. The caller must not change them.
func (t *Transcript) Conversation() *contextir.Conversation { return &t.conversation }

// Counted reports whether a provider counted [Transcript.Context], and nothing was
// removed since. Added estimates the tokens that were added since.
func (t *Transcript) Counted() (added int64, counted bool) { return t.tally.tokens(), t.tally.counted }

// BriefingOf returns the briefing that a model was given; false if it was given none.
func (t *Transcript) BriefingOf(model llm.Origin) (Briefing, bool) {
	b, ok := t.past.briefed[model]
	return b, ok
}

// Config returns the session's configuration. It may be called from any goroutine.
func (s *Session) Config() Config { return s.cfg }

// applyDecision folds in what a person decided about the context.
func (t *Transcript) applyDecision(p Payload) {
	switch d := p.(type) {
	case ContextMarked:
		t.applyMarked(d)
	case CompactionUndone:
		t.applyUndone(d)
	}
}

func (t *Transcript) applyMarked(d ContextMarked) {
	before := t.conversation.Bytes()
	t.conversation.Mark(d.Mark, d.Items...)
	if grown := t.conversation.Bytes() - before; grown != 0 {
		t.Context, t.tally.counted = max(0, t.Context+int64(grown/bytesPerToken)), false
	}
}

func (t *Transcript) applyUndone(d CompactionUndone) {
	t.conversation.DropNative() // a provider's reasoning is bound to what it had read
	t.Context, t.tally = d.Tokens, tally{items: t.conversation.Len()}
	t.past.compaction.paused = true
}
