package contextir_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
)

// busy is a conversation of so many turns, each with a call whose result is long. The
// calls of the given turns fail.
func busy(turns int, failed ...int) *contextir.Conversation {
	c := &contextir.Conversation{}
	for n := 1; n <= turns; n++ {
		c.Begin(n)
		c.Append(contextir.UserMessage, llm.Text(llm.RoleUser, fmt.Sprint("prompt ", n)))
		call := llm.ToolCall{ID: fmt.Sprint("c", n), Name: "Look", Arguments: []byte(`{}`)}
		c.Append(contextir.AssistantMessage, llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Kind: llm.PartToolCall, Call: &call}}})
		bad := false
		for _, f := range failed {
			bad = bad || f == n
		}
		c.Append(contextir.ToolResult, llm.Message{Role: llm.RoleTool, Parts: []llm.Part{contextir.Answer(call, fmt.Sprintf("result %d %s end %d", n, strings.Repeat("x", 5000), n), bad)}})
		c.Append(contextir.AssistantMessage, llm.Text(llm.RoleAssistant, fmt.Sprint("done ", n)))
	}
	return c
}

// COM-13: each strategy does what it says, and calls keep their results.
func TestStrategies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		step      contextir.Step
		has, lost string
		changed   bool
	}{
		{contextir.Step{Type: contextir.ToolResult, Strategy: contextir.StrategyNone}, "end 1", "", false},
		{contextir.Step{Type: contextir.ToolResult, Strategy: contextir.StrategySummarize}, "end 1", "", false},
		{contextir.Step{Type: contextir.ToolResult, Strategy: contextir.StrategyOffload, Keep: 2}, "result 1,end 7,end 8", "end 6", true},
		{contextir.Step{Type: contextir.ToolResult, Strategy: contextir.StrategyTruncate, Keep: 2}, "end 7,end 8,prompt 1", "result 6", true},
		{contextir.Step{Type: contextir.ToolResult, Strategy: contextir.StrategyDrop, Keep: 2}, "prompt 8", "end 8", true},
		{contextir.Step{Type: contextir.UserMessage, Strategy: contextir.StrategyTruncate, Keep: 5}, "prompt 4,done 1", "prompt 3", true},
		{contextir.Step{Type: contextir.AssistantMessage, Strategy: contextir.StrategyTruncate, Keep: 4}, "prompt 1,end 7", "end 6", true},
		{contextir.Step{Type: contextir.CompactionSummary, Strategy: contextir.StrategyDrop}, "end 1", "", false},
	} {
		c := busy(8)
		changed := c.Apply(tt.step)
		said := fmt.Sprint(texts(c.Lower()))
		if changed != tt.changed {
			t.Errorf("%v: changed %t", tt.step, changed)
		}
		for _, want := range strings.Split(tt.has, ",") {
			if !strings.Contains(said, want) {
				t.Errorf("%v: lost %q", tt.step, want)
			}
		}
		if tt.lost != "" && strings.Contains(said, tt.lost) {
			t.Errorf("%v: kept %q", tt.step, tt.lost)
		}
		checkPairs(t, c.Lower())
		if c.Apply(tt.step) {
			t.Errorf("%v changed something again", tt.step)
		}
	}
}

func texts(messages []llm.Message) (all []string) {
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Result != nil {
				p = p.Result.Parts[0]
			}
			all = append(all, p.Text)
		}
	}
	return all
}

// COM-15, COM-14: rules are applied from the lowest priority up, and no further than
// needed.
func TestPlan(t *testing.T) {
	t.Parallel()
	c := busy(8)
	whole := c.Bytes()
	at := func(share int) func(*contextir.Conversation) bool {
		return func(c *contextir.Conversation) bool { return c.Bytes() <= whole*share/100 }
	}
	results := contextir.Step{Type: contextir.ToolResult, Strategy: contextir.StrategyTruncate, Keep: 5}
	for share, want := range map[int][]contextir.Step{
		100: nil,
		70:  {results},
		0: {
			results, {Type: contextir.AssistantMessage, Strategy: contextir.StrategyTruncate, Keep: 5},
			{Type: contextir.UserMessage, Strategy: contextir.StrategyTruncate, Keep: 5},
		},
	} {
		got := c.Plan(contextir.SeedRules(), at(share))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("down to %d %%: %s", share, diff)
		}
	}
	if c.Bytes() != whole {
		t.Error("planning changed the conversation")
	}
	if got := c.Plan(contextir.DefaultRules(), at(0)); len(got) != 1 || got[0].Strategy != contextir.StrategyOffload {
		t.Errorf("by default %v", got)
	}
}

// COM-17: results of failed calls stay for ten turns, whatever the rules say.
func TestErrorsStay(t *testing.T) {
	t.Parallel()
	c := busy(20, 3, 12)
	c.Apply(contextir.Step{Type: contextir.ToolResult, Strategy: contextir.StrategyDrop})
	c.Apply(contextir.Step{Type: contextir.AssistantMessage, Strategy: contextir.StrategyDrop})
	said := fmt.Sprint(texts(c.Lower()))
	if !strings.Contains(said, "end 12") || strings.Contains(said, "end 3") || strings.Contains(said, "end 13") {
		t.Errorf("sent %s", said)
	}
	checkPairs(t, c.Lower())
	c = busy(20, 3, 12)
	bytes, _ := c.Elidable(0)
	c.Elide(bytes)
	if said := fmt.Sprint(texts(c.Lower())); !strings.Contains(said, "end 12") || strings.Contains(said, "end 3") {
		t.Errorf("sent %s", said)
	}
}

// COM-24: a type that takes more than it may makes room by its own rule, once that is worth
// it. Others stay as they are.
func TestOver(t *testing.T) {
	t.Parallel()
	tokens := func(bytes int) int64 { return int64(bytes / 4) }
	shorten := func(keep int, limit int64) contextir.Rule {
		return contextir.Rule{Strategy: contextir.StrategyOffload, Keep: keep, Limit: limit}
	}
	for name, tt := range map[string]struct {
		rules contextir.Rules
		want  []contextir.Step
	}{
		"within":         {contextir.Rules{contextir.ToolResult: shorten(5, 20_000)}, nil},
		"no limit":       {contextir.Rules{contextir.ToolResult: shorten(5, 0)}, nil},
		"over":           {contextir.Rules{contextir.ToolResult: shorten(2, 5000)}, []contextir.Step{{Type: contextir.ToolResult, Strategy: contextir.StrategyOffload, Keep: 2}}},
		"of little use":  {contextir.Rules{contextir.ToolResult: shorten(7, 5000)}, nil},
		"another's":      {contextir.Rules{contextir.AssistantMessage: shorten(1, 5000)}, nil},
		"to the summary": {contextir.Rules{contextir.ToolResult: {Strategy: contextir.StrategySummarize, Limit: 10}}, nil},
	} {
		c := busy(8) // results of 1,250 tokens each
		before := c.Bytes()
		if diff := cmp.Diff(tt.want, c.Over(tt.rules, tokens)); diff != "" || c.Bytes() != before {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A conversation of 10,000 items is planned, compacted and lowered in a moment, with each call
// beside its result (COM-12, COM-15).
func TestTenThousandItems(t *testing.T) {
	t.Parallel()
	c := busy(2500)
	if c.Len() != 10_000 {
		t.Fatalf("%d items", c.Len())
	}
	whole, begin := c.Bytes(), time.Now()
	small := func(c *contextir.Conversation) bool { return c.Bytes() <= whole/100 }
	for _, step := range c.Plan(contextir.SeedRules(), small) {
		c.Apply(step)
	}
	if !small(c) {
		t.Errorf("%d of %d bytes are left", c.Bytes(), whole)
	}
	checkPairs(t, c.Lower())
	c.CompactWithin("In short.", 10, nil, 0)
	checkPairs(t, c.Lower())
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}
