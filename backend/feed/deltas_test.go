package feed

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
)

// A flood of text reaches a page without a gap, in envelopes that are small
// enough, and a page that opens meanwhile gets the newest part.
func TestFeedOfAFlood(t *testing.T) {
	t.Parallel()
	for name, unit := range map[string]string{"plain": "0123456789abcdef", "as long as encoding makes it": "<&>\x01\x02<&>", "beyond the first plane": "𝄞𝄞𝄞é"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := New()
				got := watchAll(t, f)
				text := strings.Repeat(unit, 60_000/len(unit))
				end := 0
				for range 8 {
					f.Publish(agent.Event{Session: "a", Data: agent.ReasoningDelta{Text: text, Offset: end}})
					f.Publish(delta(text, end))
					end += utf16Length(text)
				}
				time.Sleep(feedInterval + time.Millisecond)
				synctest.Wait()
				read, thought := 0, 0
				for _, e := range got() {
					for _, ev := range e.Events {
						switch d := ev.Data.(type) {
						case agent.TextDelta:
							if d.Offset != read {
								t.Fatalf("text at %d, want %d", d.Offset, read)
							}
							read += utf16Length(d.Text)
						case agent.ReasoningDelta:
							if d.Offset != thought {
								t.Fatalf("reasoning at %d, want %d", d.Offset, thought)
							}
							thought += utf16Length(d.Text)
						}
					}
				}
				if read != end || thought != end {
					t.Errorf("%d and %d of %d arrived", read, thought, end)
				}
				draft := f.Draft("a")
				if n := len(draft.Text) + len(draft.Reasoning); n > 4*answerTail {
					t.Errorf("a draft of %d bytes", n)
				}
				if draft.TextOffset+utf16Length(draft.Text) != end || draft.ReasoningOffset+utf16Length(draft.Reasoning) != end {
					t.Errorf("a draft that ends at %d and %d, want %d", draft.TextOffset+utf16Length(draft.Text), draft.ReasoningOffset+utf16Length(draft.Reasoning), end)
				}
			})
		})
	}
}

// A long answer is shown by its beginning and its end, also if it has many
// parts, with its full length.
func TestLongAnswerForDisplay(t *testing.T) {
	t.Parallel()
	long := "begins " + strings.Repeat("é", 1<<20) + " ends"
	part := func(text string) llm.Part { return llm.Part{Kind: llm.PartText, Text: text} }
	thought := func(text string) llm.Part {
		return llm.Part{Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{Text: text}}
	}
	var many []llm.Part
	for range 1 << 10 {
		many = append(many, part("begins "+strings.Repeat("x", 1<<10)+" ends"))
	}
	for name, parts := range map[string][]llm.Part{
		"text": {part(long)}, "reasoning": {thought(long)}, "both": {thought(long), part(long)}, "after a little": {part("begins "), part(long)}, "parts": many,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := llm.Message{Role: llm.RoleAssistant, Parts: parts}
			before, _ := json.Marshal(whole)
			got := ForDisplay(agent.Event{Data: agent.TextEnd{Message: whole}}).Data.(agent.TextEnd)
			var text, reasoning strings.Builder
			for _, p := range got.Message.Parts {
				text.WriteString(p.Text)
				if p.Reasoning != nil {
					reasoning.WriteString(p.Reasoning.Text)
				}
			}
			var size int
			for _, p := range parts {
				size += len(p.Text)
				if p.Reasoning != nil {
					size += len(p.Reasoning.Text)
				}
			}
			if got.Size != int64(size) {
				t.Errorf("its size is given as %d bytes, want %d", got.Size, size)
			}
			for _, s := range []string{text.String(), reasoning.String()} {
				if s == "" {
					continue
				}
				if len(s) > answerLimit+16 || !strings.HasPrefix(s, "begins ") || !strings.HasSuffix(s, " ends") || strings.Count(s, "\n…\n") != 1 || strings.ToValidUTF8(s, "") != s {
					t.Errorf("%d bytes: %.40q … %q", len(s), s, s[len(s)-20:])
				}
			}
			if after, _ := json.Marshal(whole); string(after) != string(before) {
				t.Error("the message itself was changed")
			}
		})
	}
	short := agent.TextEnd{Message: llm.Text(llm.RoleAssistant, strings.Repeat("x", answerLimit))}
	if got := ForDisplay(agent.Event{Data: short}).Data.(agent.TextEnd); got.Size != 0 || got.Message.Text() != short.Message.Text() {
		t.Errorf("a shorter one is cut to %d bytes of %d", len(got.Message.Text()), got.Size)
	}
}
