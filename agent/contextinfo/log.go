package contextinfo

import (
	"slices"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
)

// Log is the fold of a session's log, with what the items of its conversation took so
// far. Its zero value is an empty log. It is not safe for concurrent use.
type Log struct {
	past  agent.Transcript
	items map[string]born
	// rate sums what one token of the context cost in all requests so far, in
	// billionths of a dollar; requests counts them, as the ledger of costs does.
	rate        float64
	requests    int
	cache       cached
	compactions []Compaction
	last        int64
	listeners   []*listener
}

// born says when an item was added.
type born struct {
	at   int64 // Unix time in milliseconds
	rate float64
}

// Compaction is one that replaced items by a summary or shortened them.
type Compaction struct {
	// Seq is the place of its end in the log.
	Seq     int64                   `json:"seq"`
	At      int64                   `json:"at"`
	Turn    int                     `json:"turn,omitempty"`
	Trigger agent.CompactionTrigger `json:"trigger"`
	Before  int64                   `json:"before"`
	After   int64                   `json:"after"`
	Summary string                  `json:"summary,omitempty"`
	// Undone says that a person took it back.
	Undone bool `json:"undone,omitempty"`
}

// cached is what is known of the provider's prompt cache.
type cached struct {
	model  llm.Origin
	usage  llm.Usage // of the newest request
	at     int64     // its time
	broken CacheBreak
	reason CacheBreakReason // what happened since the newest request
}

// CacheBreak is the newest request that the provider read anew although it had most of it
// in its cache.
type CacheBreak struct {
	At     int64            `json:"at"`
	Reason CacheBreakReason `json:"reason"`
	// Tokens were read anew.
	Tokens int64 `json:"tokens"`
}

// CacheBreakReason says what broke the beginning of a request, which has to be the same to be
// cached.
type CacheBreakReason string

// The reasons.
const (
	BreakModel      CacheBreakReason = "model"      // another model answered
	BreakCompaction CacheBreakReason = "compaction" // the conversation was compacted, or that was undone
	BreakMarks      CacheBreakReason = "marks"      // a person took items out or brought them back
	BreakRepair     CacheBreakReason = "repair"     // the conversation was changed to be accepted
	BreakRewind     CacheBreakReason = "rewind"     // a part of the conversation was taken back
	BreakExpired    CacheBreakReason = "expired"    // nothing was asked for too long
	BreakUnknown    CacheBreakReason = "unknown"    // such as other tools, or the provider's own choice
)

// Apply folds in the next event. tookBack says that it stands no more, as
// [agent.TakenBack] reports.
func (l *Log) Apply(ev agent.Event, tookBack bool) {
	l.last = ev.Seq
	if isRequest(ev.Data) {
		l.requests++
	}
	if c, ok := ev.Data.(agent.CompactionEnd); ok && c.Outcome == agent.OutcomeDone {
		l.compactions = append(l.compactions, Compaction{
			Seq: ev.Seq, At: ev.At, Turn: ev.Turn, Trigger: c.Trigger, Before: c.Before, After: c.After, Summary: c.Summary, Undone: tookBack,
		})
	}
	if tookBack {
		if ev.Kind() == agent.KindCompactionEnd {
			l.watch(ev) // what was asked meanwhile had it
		}
		l.past.ApplyTakenBack(ev)
		return
	}
	l.past.Apply(ev)
	l.watch(ev)
	defer l.announce(ev, l.note(ev.At))
	if ev.Kind() == agent.KindCompactionEnd {
		l.noteSummary(ev.At)
	}
}

// isRequest reports whether an event stands for a request that cost something, also when it
// was taken back.
func isRequest(p agent.Payload) bool {
	switch d := p.(type) {
	case agent.TextEnd, agent.SideRequest:
		return true
	case agent.Retrying:
		return d.Counts()
	}
	return false
}

// Seq returns the place of the newest event.
func (l *Log) Seq() int64 { return l.last }

// Transcript returns the fold of the log.
func (l *Log) Transcript() *agent.Transcript { return &l.past }

// Compactions returns the compactions, the oldest first.
func (l *Log) Compactions() []Compaction { return l.compactions }

// note remembers when new items were added, and returns them, the oldest first.
func (l *Log) note(at int64) (added []string) {
	if l.items == nil {
		l.items = map[string]born{}
	}
	for it := range l.past.Conversation().Backward() {
		id := it.ID()
		if _, known := l.items[id]; known {
			break
		}
		l.items[id] = born{at: at, rate: l.rate}
		added = append(added, id)
	}
	slices.Reverse(added)
	return added
}

// noteSummary remembers when a summary took the first place.
func (l *Log) noteSummary(at int64) {
	for it := range l.past.Conversation().Items() {
		if id := it.ID(); l.items[id] == (born{}) {
			l.items[id] = born{at: at, rate: l.rate}
		}
		return
	}
}

// watch notes what a request cost, and what concerns the cache.
func (l *Log) watch(ev agent.Event) {
	c := &l.cache
	switch d := ev.Data.(type) {
	case agent.CompactionEnd:
		if d.Outcome == agent.OutcomeDone {
			c.reason = BreakCompaction
		}
	case agent.CompactionUndone:
		c.reason = BreakCompaction
	case agent.ContextMarked:
		if d.Mark == contextir.MarkDrop || d.Mark == contextir.MarkRestore {
			c.reason = BreakMarks
		}
	case agent.HistoryRepaired:
		c.reason = BreakRepair
	case agent.Rewound, agent.RewindUndone:
		c.reason = BreakRewind
	case agent.TextEnd:
		l.answered(ev.At, d)
	}
}

func (l *Log) answered(at int64, d agent.TextEnd) {
	if !d.Usage.Known || d.Usage.Total() == 0 {
		return
	}
	if d.Cost != nil {
		l.rate += float64(*d.Cost) / float64(d.Usage.Total())
	}
	c, model := &l.cache, llm.Origin{Provider: d.Provider, Model: d.Model}
	before := c.usage.Context()
	caches := c.usage.CacheRead+c.usage.CacheWrite+d.Usage.CacheRead+d.Usage.CacheWrite > 0
	if read := d.Usage.CacheRead; caches && before > 0 && read < before/2 && d.Usage.Context()-read > leastBreak {
		reason := c.reason
		switch ttl := lifetime(c.model, c.usage); {
		case c.model != model:
			reason = BreakModel
		case reason == "" && ttl > 0 && at-c.at > ttl.Milliseconds():
			reason = BreakExpired
		case reason == "":
			reason = BreakUnknown
		}
		c.broken = CacheBreak{At: at, Reason: reason, Tokens: d.Usage.Context() - read}
	}
	c.model, c.usage, c.at, c.reason = model, d.Usage, at, ""
}

// leastBreak is the smallest request that providers cache, in tokens.
const leastBreak = 1024

// lifetime returns how long a provider keeps what it cached since it was read last, as
// its documentation says; 0 if that is not known.
func lifetime(model llm.Origin, u llm.Usage) time.Duration {
	switch model.Provider {
	case "anthropic":
		if u.CacheWriteLong > 0 {
			return time.Hour
		}
		return 5 * time.Minute
	case "openai":
		return 5 * time.Minute // and up to ten
	}
	return 0
}

// SessionUsage is what a session used so far.
type SessionUsage struct {
	Tokens   int64        `json:"tokens"` // of all requests and answers
	Cost     llm.Spending `json:"cost"`
	Requests int          `json:"requests"`
	llm.Usage
}

// Usage returns what the session used so far (COM-94).
func (l *Log) Usage() SessionUsage {
	return SessionUsage{Tokens: l.past.Usage.Total(), Cost: l.past.Cost, Requests: l.requests, Usage: l.past.Usage}
}
