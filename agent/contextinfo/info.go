package contextinfo

import (
	"context"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/internal/text"
)

// ContextInfo is what a person is shown of a context, and what a program gets.
type ContextInfo struct {
	ContextBreakdown
	// Threshold is the size from which the conversation is compacted; 0 means never.
	Threshold int64 `json:"threshold,omitempty"`
	// Segments has the three parts of the context.
	Segments []ContextSegment `json:"segments,omitempty"`
	// Header is what stands before the conversation in every request.
	Header []HeaderItem `json:"header,omitempty"`
	// Items are some of the conversation's items, the newest first; Total counts all.
	Items []ContextItem `json:"items,omitempty"`
	Total int           `json:"total"`
	// Pinned and Dropped count items.
	Pinned  int `json:"pinned,omitempty"`
	Dropped int `json:"dropped,omitempty"`
	// Cache is nil before the first answer.
	Cache *CacheState `json:"cache,omitempty"`
	// Compactions are those of the session, the newest first, at most 20.
	Compactions []Compaction `json:"compactions,omitempty"`
	// Turn is the current turn.
	Turn int `json:"turn"`
}

// ContextSegment is the size of a segment, in tokens.
type ContextSegment struct {
	Name   contextir.SegmentName `json:"name"`
	Tokens int64                 `json:"tokens"`
}

// ContextItem is one item of a conversation.
type ContextItem struct {
	ID   string             `json:"id"`
	Type contextir.ItemType `json:"type"`
	// Text is its beginning.
	Text string `json:"text"`
	// Tool is the name of the tool whose result it is, as the model knows it; else empty.
	Tool     string `json:"tool,omitempty"`
	Tokens   int64  `json:"tokens"`
	Priority int    `json:"priority"`
	// Turn is when it was added, and At the Unix time in milliseconds; 0 means unknown.
	Turn int   `json:"turn"`
	At   int64 `json:"at,omitempty"`
	// Cost is what the item took of the requests so far that had it, by its size; 0 if
	// prices are not known.
	Cost      llm.Cost `json:"cost,omitempty"`
	Pinned    bool     `json:"pinned,omitempty"`
	Dropped   bool     `json:"dropped,omitempty"`
	Shortened bool     `json:"shortened,omitempty"`
	Failed    bool     `json:"failed,omitempty"`
	// Fixed says that a person can neither pin nor drop it.
	Fixed bool `json:"fixed,omitempty"`
}

// CacheState is what is known of the provider's prompt cache after the newest request.
type CacheState struct {
	Read  int64 `json:"read"`  // tokens that were read from it
	Write int64 `json:"write"` // tokens that were written to it
	Fresh int64 `json:"fresh"` // tokens that were neither
	// Until is when the provider forgets it, by its documentation, as Unix time in
	// milliseconds; 0 if that is not known or nothing is cached.
	Until int64 `json:"until,omitempty"`
	// Broken is the newest request that had to be read anew; nil if none had.
	Broken *CacheBreak `json:"broken,omitempty"`
	// Warm estimates what reading the context costs in the next request while it is
	// cached, and Cold what it costs when it is not; nil if prices are not known. The
	// difference is the price of waiting, and of what breaks the cache.
	Warm *llm.Cost `json:"warm,omitempty"`
	Cold *llm.Cost `json:"cold,omitempty"`
}

// ContextPage says which items of a conversation are wanted: Count from the newest less Skip.
// Type limits them to one type; empty means all.
type ContextPage struct {
	Skip  int                `json:"skip,omitempty"`
	Count int                `json:"count,omitempty"`
	Type  contextir.ItemType `json:"type,omitempty"`
	// Marked limits them to those that a person pinned or dropped.
	Marked bool `json:"marked,omitempty"`
}

const (
	maxPage        = 200
	maxExcerpt     = 160 // bytes
	maxCompactions = 20
)

// Info says what fills the context of a session, with a page of its items (COM-94). It
// may be called from any goroutine, even while a turn runs.
func (l *Log) Info(ctx context.Context, s Session, page ContextPage, now time.Time) ContextInfo {
	m, cfg := measure(ctx, s, &l.past), s.Config()
	info := ContextInfo{ContextBreakdown: m.breakdown(cfg, &l.past), Turn: l.past.Turn}
	if info.Reserved > 0 {
		info.Threshold = info.Window - info.Reserved
	}
	whole := float64(info.Used+info.Added) / float64(max(1, m.sum))
	scale := func(n int64) int64 { return int64(float64(n)*whole + 0.5) }
	sizes := map[contextir.SegmentName]int64{}
	for _, h := range m.header {
		sizes[h.Segment()] += h.Tokens
		h.Tokens = scale(h.Tokens)
		info.Header = append(info.Header, h)
	}
	for _, n := range m.items {
		sizes[contextir.SegmentConversation] += n
	}
	info.Segments = segments(sizes, m.sum, info.Used+info.Added)
	l.list(&info, m.items, page, scale)
	info.Cache = l.cacheState(cfg, m.model, info.Used+info.Added, now)
	for i := len(l.compactions) - 1; i >= 0 && len(info.Compactions) < maxCompactions; i-- {
		info.Compactions = append(info.Compactions, l.compactions[i])
	}
	return info
}

// segments scales the sizes of the segments to add up to whole.
func segments(sizes map[contextir.SegmentName]int64, sum, whole int64) (all []ContextSegment) {
	var before, given int64
	for _, name := range []contextir.SegmentName{contextir.SegmentHeader, contextir.SegmentSessionState, contextir.SegmentConversation} {
		before += sizes[name]
		upTo := int64(float64(before) / float64(max(1, sum)) * float64(whole))
		all = append(all, ContextSegment{Name: name, Tokens: upTo - given})
		given = upTo
	}
	return all
}

// list adds a page of items.
func (l *Log) list(info *ContextInfo, sizes []int64, page ContextPage, scale func(int64) int64) {
	count := min(max(0, page.Count), maxPage)
	i := len(sizes)
	for it := range l.past.Conversation().Backward() {
		i--
		if it.Pinned {
			info.Pinned++
		}
		if it.Dropped() {
			info.Dropped++
		}
		if page.Type != "" && it.Type != page.Type || page.Marked && !it.Pinned && !it.Dropped() {
			continue
		}
		if info.Total >= page.Skip && len(info.Items) < count {
			info.Items = append(info.Items, l.item(it, scale(sizes[i])))
		}
		info.Total++
	}
}

func (l *Log) item(it *contextir.Item, size int64) ContextItem {
	item := ContextItem{
		ID: it.ID(), Type: it.Type, Text: text.Head(strings.Join(strings.Fields(text.Head(it.Text(), 4*maxExcerpt)), " "), maxExcerpt),
		Tokens: size, Priority: it.Priority(), Turn: it.Turn, Pinned: it.Pinned, Dropped: it.Dropped(),
		Shortened: it.Shortened(), Failed: it.IsError(), Fixed: !it.Type.CanMark(),
	}
	if len(it.Message.Parts) > 0 && it.Message.Parts[0].Result != nil {
		item.Tool = it.Message.Parts[0].Result.Name
	}
	if b, ok := l.items[item.ID]; ok {
		item.At, item.Cost = b.at, llm.Cost(float64(size)*(l.rate-b.rate))
	}
	return item
}

// cacheState says what is known of the cache for the next request to a model.
func (l *Log) cacheState(cfg agent.Config, model llm.Origin, size int64, now time.Time) *CacheState {
	c := l.cache
	if c.at == 0 {
		return nil
	}
	s := &CacheState{Read: c.usage.CacheRead, Write: c.usage.CacheWrite, Fresh: c.usage.Input}
	if c.broken.At > 0 {
		s.Broken = &c.broken
	}
	held := s.Read + s.Write
	if ttl := lifetime(c.model, c.usage); ttl > 0 && held > 0 {
		s.Until = c.at + ttl.Milliseconds()
	}
	if held == 0 || c.model != model {
		return s
	}
	held = min(held, size)
	cold := llm.Usage{Input: size, Known: true}
	if s.Write > 0 || c.usage.CacheWriteLong > 0 {
		cold.Input, cold.CacheWrite = size-held, held
		if c.usage.CacheWriteLong > 0 {
			cold.CacheWriteLong = held
		}
	}
	s.Warm = cfg.Facts.Price(model.Provider, model.Model, llm.Usage{Input: size - held, CacheRead: held, Known: true}, now)
	s.Cold = cfg.Facts.Price(model.Provider, model.Model, cold, now)
	return s
}
