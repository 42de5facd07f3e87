package contextir_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
)

// idsOf returns the ids of a conversation's items, with a mark at those that are pinned
// or dropped.
func idsOf(c *contextir.Conversation) (ids []string) {
	for it := range c.Items() {
		id := it.ID()
		if it.Pinned {
			id += "+"
		}
		if it.Dropped() {
			id += "-"
		}
		ids = append(ids, id)
	}
	return ids
}

// worked is a conversation of two turns, the first with a call.
func worked() *contextir.Conversation {
	c := &contextir.Conversation{}
	c.Begin(1)
	c.Append(contextir.UserMessage, llm.Text(llm.RoleUser, "Mend the login."))
	call := llm.ToolCall{ID: "c1", Name: "Read", Arguments: []byte(`{}`)}
	c.Append(contextir.AssistantMessage, llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Kind: llm.PartText, Text: "I read."}, {Kind: llm.PartToolCall, Call: &call}}})
	c.Append(contextir.ToolResult, llm.Message{Role: llm.RoleTool, Parts: []llm.Part{contextir.Answer(call, "the file", false)}})
	c.Append(contextir.AssistantMessage, llm.Text(llm.RoleAssistant, "Done."))
	c.Begin(2)
	c.Append(contextir.UserMessage, llm.Text(llm.RoleUser, "Go on."))
	return c
}

// COM-10: items have ids that stay, a turn, a priority and flags, and a person's marks
// change what is sent.
func TestMark(t *testing.T) {
	t.Parallel()
	c := worked()
	want := []string{"user_message:1:1", "assistant_message:1:1", "tool_result:1:1", "assistant_message:1:2", "user_message:2:1"}
	if diff := cmp.Diff(want, idsOf(c)); diff != "" {
		t.Error(diff)
	}
	if n := c.Mark(contextir.MarkDrop, "assistant_message:1:1", "nothing"); n != 1 {
		t.Errorf("found %d", n)
	}
	if got := fmt.Sprint(c.Lower()); strings.Contains(got, "I read.") || strings.Contains(got, "the file") || !strings.Contains(got, "took this message out") {
		t.Errorf("sent %s", got)
	}
	c.Mark(contextir.MarkPin, "tool_result:1:1") // which brings it back, with its call
	want[1], want[2] = "assistant_message:1:1", "tool_result:1:1+"
	if diff := cmp.Diff(want, idsOf(c)); diff != "" {
		t.Error(diff)
	}
	if got := fmt.Sprint(c.Lower()); !strings.Contains(got, "I read.") {
		t.Errorf("sent %s", got)
	}
	c.Mark(contextir.MarkUnpin, "tool_result:1:1")
	c.Mark(contextir.MarkDrop, "user_message:1:1")
	c.Compact("In short.", 1, nil)
	if got := fmt.Sprint(c.Lower()); strings.Contains(got, "Mend the login.") {
		t.Errorf("a dropped message is quoted: %s", got)
	}
}

// What is pinned survives a summary word for word, a result with its call; nothing else
// does.
func TestPinnedSurvives(t *testing.T) {
	t.Parallel()
	c := worked()
	c.Mark(contextir.MarkPin, "user_message:1:1", "tool_result:1:1")
	for n := range 3 {
		c.Compact("In short.", 1, nil)
		sent := c.Lower()
		checkPairs(t, sent)
		said := fmt.Sprint(sent)
		if !strings.Contains(said, "Mend the login.") || strings.Contains(said, "I read.") || strings.Contains(said, "Done.") || !strings.Contains(said, "Go on.") {
			t.Errorf("after %d: %s", n+1, said)
		}
		want := []string{fmt.Sprintf("compaction_summary:2:%d", n+1), "user_message:1:1+", "assistant_message:1:1", "tool_result:1:1+", "user_message:2:1"}
		if diff := cmp.Diff(want, idsOf(c)); diff != "" {
			t.Error(diff)
		}
	}
	if c.Elidable(0); c.Elide(1<<20) != 0 {
		t.Error("a pinned result was shortened")
	}
}

// checkPairs reports a call without exactly one result right behind it, and a result
// without a call.
func checkPairs(t *testing.T, messages []llm.Message) {
	t.Helper()
	var open []string
	for _, m := range messages {
		if m.Role == llm.RoleTool {
			var got []string
			for _, p := range m.Parts {
				got = append(got, p.Result.CallID)
			}
			if !slices.Equal(open, got) {
				t.Errorf("calls %v, answered %v", open, got)
			}
			open = nil
			continue
		}
		if len(open) > 0 {
			t.Errorf("%v are not answered", open)
		}
		open = nil
		for _, call := range m.Calls() {
			open = append(open, call.ID)
		}
		if len(m.Parts) == 0 {
			t.Error("an empty message")
		}
	}
}

// COM-12: whatever is marked, compacted, shortened or left out, every call is sent
// with exactly one result right behind it, and what is pinned stays.
func TestLoweringKeepsPairs(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := &contextir.Conversation{}
		turn, calls := 0, 0
		var pinned string
		for range 60 {
			switch n := r.IntN(12); {
			case n < 3:
				turn++
				c.Begin(turn)
				c.Append(contextir.UserMessage, llm.Text(llm.RoleUser, fmt.Sprint("prompt ", turn)))
			case n < 7:
				m := llm.Text(llm.RoleAssistant, "I look.")
				var answers []llm.Part
				for range r.IntN(4) {
					calls++
					call := llm.ToolCall{ID: fmt.Sprint("c", calls), Name: "Look", Arguments: []byte(`{}`)}
					m.Parts = append(m.Parts, llm.Part{Kind: llm.PartToolCall, Call: &call})
					answers = append(answers, contextir.Answer(call, strings.Repeat("seen ", 1+r.IntN(900)), r.IntN(4) == 0))
				}
				c.Append(contextir.AssistantMessage, m)
				for _, answer := range answers[:min(len(answers), r.IntN(5))] {
					c.Append(contextir.ToolResult, llm.Message{Role: llm.RoleTool, Parts: []llm.Part{answer}})
				}
			case n < 9:
				if ids := idsOf(c); len(ids) > 0 {
					mark := []contextir.Mark{contextir.MarkPin, contextir.MarkUnpin, contextir.MarkDrop, contextir.MarkRestore}[r.IntN(4)]
					id := strings.TrimRight(ids[r.IntN(len(ids))], "+-")
					if found := c.Mark(mark, id); found > 0 && mark == contextir.MarkPin {
						pinned = id
					} else if found > 0 {
						pinned = "" // the mark may be gone
					}
				}
			case n < 10:
				c.Compact("In short.", c.Tail(r.IntN(4000)), nil)
			case n < 11:
				c.Elide(r.IntN(5000))
			default:
				c.Cut(r.IntN(5000))
			}
			checkPairs(t, c.Lower())
			checkPairs(t, c.Clone().Lower())
			if pinned != "" && !slices.Contains(idsOf(c), pinned+"+") {
				t.Errorf("the pinned %s is gone", pinned)
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// COM-05, COM-06, COM-07, COM-11: segments are searched by type and id, and what is
// never compacted has the highest priorities.
func TestSegment(t *testing.T) {
	t.Parallel()
	s := worked().Segment()
	if got := len(s.FindByType(contextir.AssistantMessage)); got != 2 {
		t.Errorf("%d answers", got)
	}
	if it, ok := s.FindOneByType(contextir.ToolResult); !ok || it.Turn != 1 {
		t.Errorf("%+v, %t", it, ok)
	}
	if _, ok := s.FindOneByType(contextir.CompactionSummary); ok {
		t.Error("a summary was found")
	}
	if got := s.Tokens(func(m llm.Message) int { return len(m.Parts) }); got != 6 {
		t.Errorf("%d tokens", got)
	}
	if it, ok := s.RemoveByID("user_message:2:1"); !ok || it.Message.Text() != "Go on." || len(s.Items) != 4 {
		t.Errorf("%+v, %t", it, ok)
	}
	if _, ok := s.RemoveByID("user_message:2:1"); ok {
		t.Error("it was removed twice")
	}
	if removed := s.RemoveByType(contextir.AssistantMessage); len(removed) != 2 || len(s.Lower()) != 1 {
		t.Errorf("removed %v, left %v", removed, s.Lower())
	}
	for _, kind := range []contextir.ItemType{contextir.SystemPrompt, contextir.Memory, contextir.SystemEnv, contextir.GitEnv} {
		if kind.Priority() != 100 {
			t.Errorf("%s has %d", kind, kind.Priority())
		}
	}
	for kind, segment := range map[contextir.ItemType]contextir.SegmentName{
		contextir.ToolStrategy: contextir.SegmentHeader, contextir.SkillStrategy: contextir.SegmentHeader, contextir.SubagentStrategy: contextir.SegmentHeader,
		contextir.MCPTool: contextir.SegmentSessionState, contextir.UserMessage: contextir.SegmentConversation,
	} {
		if p := kind.Priority(); contextir.SegmentOf(kind) != segment || segment != contextir.SegmentConversation && (p < 90 || p > 95) {
			t.Errorf("%s has %d and is in %s", kind, p, contextir.SegmentOf(kind))
		}
	}
}
