package llmtest

import (
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
)

// Collect drains a stream. The answer is nil if the stream failed.
func Collect(stream iter.Seq2[llm.Event, error]) ([]llm.Event, *llm.Answer, error) {
	var events []llm.Event
	var answer *llm.Answer
	for ev, err := range stream {
		if err != nil {
			return events, nil, err
		}
		events = append(events, ev)
		if ev.Type == llm.EventFinish {
			answer = ev.Answer
		}
	}
	return events, answer, nil
}

// Check reports where the events of a whole answer break the contract of
// [llm.Adapter]: start comes first and finish last, every part has one start
// and then one end, and its deltas equal its end and the part of the message.
func Check(tb testing.TB, events []llm.Event) {
	tb.Helper()
	if len(events) < 2 || events[0].Type != llm.EventStart || events[len(events)-1].Type != llm.EventFinish {
		tb.Errorf("an answer must begin with start and end with finish: %v", events)
		return
	}
	text := map[int]*strings.Builder{}
	begun, ended := map[int]int{}, map[int]int{}
	parts := events[len(events)-1].Answer.Message.Parts
	for _, ev := range events[1 : len(events)-1] {
		switch ev.Type {
		case llm.EventTextStart, llm.EventReasoningStart, llm.EventToolCallStart:
			begun[ev.Index]++
			text[ev.Index] = &strings.Builder{}
		case llm.EventTextDelta, llm.EventReasoningDelta, llm.EventToolCallDelta:
			if text[ev.Index] == nil {
				tb.Errorf("a delta of block %d came before its start", ev.Index)
				return
			}
			text[ev.Index].WriteString(ev.Delta)
		case llm.EventTextEnd, llm.EventReasoningEnd, llm.EventToolCallEnd:
			if ended[ev.Index]++; begun[ev.Index] != 1 {
				tb.Errorf("block %d ended after %d starts", ev.Index, begun[ev.Index])
				return
			}
			if diff := cmp.Diff(whole(*ev.Part), deltas(*ev.Part, text[ev.Index].String())); diff != "" {
				tb.Errorf("block %d: end and deltas differ (-end +deltas):\n%s", ev.Index, diff)
			}
			if diff := cmp.Diff(parts[ev.Index], *ev.Part); diff != "" {
				tb.Errorf("block %d: message and end differ (-message +end):\n%s", ev.Index, diff)
			}
		}
	}
	for i, p := range parts {
		want := 1
		if p.Kind == llm.PartNative { // has no events of its own
			want = 0
		}
		if begun[i] != want || ended[i] != want {
			tb.Errorf("block %d (%s) began %d times and ended %d times, want %d", i, p.Kind, begun[i], ended[i], want)
		}
	}
}

// whole returns the text of a part's deltas.
func whole(p llm.Part) string {
	switch p.Kind {
	case llm.PartReasoning:
		return p.Reasoning.Text
	case llm.PartToolCall:
		return string(p.Call.Arguments)
	default:
		return p.Text
	}
}

// deltas returns what arrived of a part; a call without arguments has an empty
// object.
func deltas(p llm.Part, text string) string {
	if p.Kind == llm.PartToolCall && text == "" && !p.Call.Custom {
		return "{}"
	}
	return text
}

// IDs returns the ids of models, in their order.
func IDs(models []llm.ListedModel) []string {
	ids := make([]string, 0, len(models))
	for _, m := range models {
		ids = append(ids, m.ID)
	}
	return ids
}
