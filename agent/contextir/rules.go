package contextir

import (
	"cmp"
	"maps"
	"slices"

	"atelier.dev/atelier/agent/llm"
)

// Strategy says how items of a type make room (COM-13).
type Strategy string

// The strategies. None touches what the model has not read, what is pinned, the error
// results of the newest ten turns, and types that last.
const (
	StrategyNone Strategy = "none" // they stay
	StrategyDrop Strategy = "drop" // all are removed
	// StrategyTruncate removes all but the newest, as many as the rule keeps.
	StrategyTruncate Strategy = "truncate"
	// StrategyOffload shortens the texts of all but the newest, as many as the rule keeps,
	// to their beginning. The log has the whole, and a file if the step names one.
	StrategyOffload Strategy = "offload_middle"
	// StrategySummarize leaves them to the summary that follows if the others do not
	// suffice.
	StrategySummarize Strategy = "summarize"
)

// Known reports whether there is such a strategy.
func (s Strategy) Known() bool {
	return slices.Contains([]Strategy{StrategyNone, StrategyDrop, StrategyTruncate, StrategyOffload, StrategySummarize}, s)
}

// Rule says how items of one type are compacted.
type Rule struct {
	Strategy Strategy `json:"strategy"`
	Keep     int      `json:"keep,omitempty"` // of the newest
	// Limit is how many tokens items of the type may take before the rule makes room for
	// itself (COM-24); 0 means any number. A rule that neither shortens nor removes has none.
	Limit int64 `json:"limit,omitempty"`
}

// Rules are those of a conversation's types. A type without one is left to the summary.
type Rules map[ItemType]Rule

// DefaultRules shorten results of tools and the user's commands, but for the newest five.
// A summary replaces the rest where that does not suffice (COM-14).
func DefaultRules() Rules {
	return Rules{
		ToolResult: {Strategy: StrategyOffload, Keep: 5}, LocalCommand: {Strategy: StrategyOffload, Keep: 5}, SystemReminder: {Strategy: StrategySummarize},
		AssistantMessage: {Strategy: StrategySummarize}, UserMessage: {Strategy: StrategySummarize}, SteeringMessage: {Strategy: StrategySummarize},
		CompactionSummary: {Strategy: StrategyNone},
	}
}

// SeedRules keep the newest five of each type and remove the others, as Comate's SDK
// documents it. What the user wanted first may be lost.
func SeedRules() Rules {
	return Rules{
		ToolResult: {Strategy: StrategyTruncate, Keep: 5}, LocalCommand: {Strategy: StrategyTruncate, Keep: 5}, SystemReminder: {Strategy: StrategyNone},
		AssistantMessage: {Strategy: StrategyTruncate, Keep: 5}, UserMessage: {Strategy: StrategyTruncate, Keep: 5}, SteeringMessage: {Strategy: StrategyTruncate, Keep: 5},
		CompactionSummary: {Strategy: StrategyNone},
	}
}

// Step is a rule that was applied. A log has the steps of a compaction, so that it can be
// folded again.
type Step struct {
	Type     ItemType `json:"type"`
	Strategy Strategy `json:"strategy"`
	Keep     int      `json:"keep,omitempty"`
	// Files are those that have the whole texts of items which the step shortens, by the
	// items' ids.
	Files map[string]string `json:"files,omitempty"`
}

// errorTurns is for how many turns error results stay (COM-17).
const errorTurns = 10

// Plan returns the rules to apply, those of the lowest priority first, until enough says
// that the conversation is short enough (COM-15). The conversation stays as it is. Steps
// that would change nothing are left out.
func (c *Conversation) Plan(rules Rules, enough func(*Conversation) bool) (steps []Step) {
	short := c.Clone()
	types := slices.SortedFunc(maps.Keys(rules), func(a, b ItemType) int {
		return cmp.Or(cmp.Compare(a.Priority(), b.Priority()), cmp.Compare(a, b))
	})
	for _, t := range types {
		rule := rules[t]
		step := Step{Type: t, Strategy: rule.Strategy, Keep: max(0, rule.Keep)}
		if enough(short) {
			break
		}
		if short.Apply(step) {
			steps = append(steps, step)
		}
	}
	return steps
}

// Over returns the rules to apply because items of their types take more tokens than they
// may, as tokens estimates them from bytes. A rule that would free less than a quarter of its
// limit is left out, so that the next such moment is not at once.
func (c *Conversation) Over(rules Rules, tokens func(bytes int) int64) (steps []Step) {
	limited := false
	for _, rule := range rules {
		limited = limited || rule.Limit > 0
	}
	if !limited {
		return nil
	}
	sizes := map[ItemType]int{}
	for i := range c.items {
		sizes[c.items[i].Type] += c.items[i].Bytes()
	}
	for _, t := range slices.Sorted(maps.Keys(rules)) {
		rule := rules[t]
		if rule.Limit <= 0 || tokens(sizes[t]) <= rule.Limit {
			continue
		}
		step, short := Step{Type: t, Strategy: rule.Strategy, Keep: max(0, rule.Keep)}, c.Clone()
		if short.Apply(step) && tokens(c.Bytes()-short.Bytes()) >= rule.Limit/4 {
			steps = append(steps, step)
		}
	}
	return steps
}

// Apply applies a step and reports whether it changed anything. The same conversation and
// step give the same result.
func (c *Conversation) Apply(step Step) (changed bool) {
	chosen := c.chosen(step)
	if len(chosen) == 0 {
		return false
	}
	switch step.Strategy {
	case StrategyOffload:
		for _, i := range chosen {
			changed = c.items[i].elide(step.Files[c.items[i].ID()]) > 0 || changed
		}
	case StrategyDrop, StrategyTruncate:
		changed = c.remove(chosen)
	}
	if changed {
		c.pictures = slices.ContainsFunc(c.items, func(it Item) bool { return pictured(it.Message.Parts) })
		c.DropNative() // a provider's reasoning is bound to what it had read
	}
	return changed
}

// Shortens returns the items that a step would shorten. The caller must not change them.
func (c *Conversation) Shortens(step Step) (items []*Item) {
	if step.Strategy != StrategyOffload {
		return nil
	}
	for _, i := range c.chosen(step) {
		if _, gone := c.items[i].elided(""); gone > 0 {
			items = append(items, &c.items[i])
		}
	}
	return items
}

// Shortened counts the results of calls of which a part was removed.
func (c *Conversation) Shortened() (n int) {
	for i := range c.items {
		if c.items[i].short && c.items[i].Type == ToolResult {
			n++
		}
	}
	return n
}

// chosen returns the indexes of the items that a step concerns.
func (c *Conversation) chosen(step Step) (at []int) {
	keep := step.Keep
	if step.Strategy == StrategyDrop {
		keep = 0
	}
	if step.Type.Priority() >= Lasting || !slices.Contains([]Strategy{StrategyDrop, StrategyTruncate, StrategyOffload}, step.Strategy) {
		return nil
	}
	read := len(c.read())
	for i := len(c.items) - 1; i >= 0; i-- {
		if it := &c.items[i]; it.Type != step.Type {
			continue
		}
		if keep--; keep < 0 && i < read && !c.keeps(&c.items[i]) {
			at = append(at, i)
		}
	}
	slices.Reverse(at)
	return at
}

// keeps reports whether an item stays whatever the rules say.
func (c *Conversation) keeps(it *Item) bool {
	return it.Pinned || it.IsError() && it.Turn > c.turn-errorTurns
}

const removedResult = "[This result was taken out to make room. Run the tool again if it is needed.]"

// remove removes items. A result leaves a line in its place, because its call stays; an
// answer takes the results of its calls along, unless one of them stays.
func (c *Conversation) remove(chosen []int) (changed bool) {
	gone := map[int]bool{}
	for _, i := range chosen {
		it := &c.items[i]
		if it.Type == ToolResult {
			changed = it.empty() || changed
			continue
		}
		results := c.resultsOf(i)
		if slices.ContainsFunc(results, func(j int) bool { return c.keeps(&c.items[j]) }) {
			continue
		}
		gone[i] = true
		for _, j := range results {
			gone[j] = true
		}
	}
	if len(gone) == 0 {
		return changed
	}
	kept := make([]Item, 0, len(c.items)-len(gone))
	for i, it := range c.items {
		if !gone[i] {
			kept = append(kept, it)
		}
	}
	c.items = kept
	return true
}

// empty puts a line in the place of a result, and reports whether that is shorter.
func (it *Item) empty() bool {
	r := *it.Message.Parts[0].Result
	r.Parts = []llm.Part{{Kind: llm.PartText, Text: removedResult}}
	m := llm.Message{Role: it.Message.Role, Parts: []llm.Part{{Kind: llm.PartToolResult, Result: &r}}}
	if Bytes(m) >= it.Bytes() {
		return false
	}
	it.Message, it.short, it.whole = m, true, nil
	return true
}
