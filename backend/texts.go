package backend

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
)

// TextPart says which text of an event is meant.
type TextPart string

// The texts of events that can be found.
const (
	PartMessage  TextPart = "message"
	PartThinking TextPart = "thinking"
	PartInput    TextPart = "input"
	PartOutput   TextPart = "output"
	PartPrompt   TextPart = "prompt" // made of what the user typed, which is the message
)

// EventText is one text of an event as a page shows it. Of names its call or
// command, if there is one.
type EventText struct {
	Part TextPart
	Of   string
	Text string
}

// TextsOf returns what a page shows of an event, in the order in which it is
// shown.
func TextsOf(ev agent.Event) []EventText {
	switch d := ev.Data.(type) {
	case agent.UserInput:
		return promptTexts(d.Text, d.Typed)
	case agent.SteeringInjected:
		if !d.ByLoop {
			return promptTexts(d.Text, d.Typed)
		}
	case agent.TextEnd:
		var said, thought strings.Builder
		for _, p := range d.Message.Parts {
			said.WriteString(p.Text)
			if p.Reasoning != nil {
				thought.WriteString(p.Reasoning.Text)
			}
		}
		return []EventText{{Part: PartThinking, Text: thought.String()}, {Part: PartMessage, Text: said.String()}}
	case agent.ToolCallStart:
		return []EventText{{Part: PartInput, Of: d.CallID, Text: argumentsOf(d.Input)}}
	case agent.ToolCallEnd:
		return []EventText{{Part: PartOutput, Of: d.CallID, Text: withoutExitNote(d)}}
	case agent.LocalCommandStart:
		return []EventText{{Part: PartInput, Of: d.ID, Text: d.Command}}
	case agent.LocalCommandEnd:
		return []EventText{{Part: PartOutput, Of: d.ID, Text: d.Output}}
	case agent.CompactionEnd:
		return []EventText{{Part: PartMessage, Text: d.Summary}}
	}
	return nil
}

// withoutExitNote returns what a call printed, without the note of its exit code,
// which a page shows in another way.
func withoutExitNote(end agent.ToolCallEnd) string {
	if end.Details == nil || end.Details.Command == nil {
		return end.Output
	}
	text, ok := strings.CutSuffix(end.Output, fmt.Sprintf("[Exit code %d]", end.Details.Command.ExitCode))
	if !ok {
		return end.Output
	}
	return strings.TrimRightFunc(text, unicode.IsSpace)
}

// argumentsOf returns the texts and numbers of a call's arguments, a line each,
// as a card shows them: without names, quotation marks and escapes.
func argumentsOf(input string) string {
	var value any
	dec := json.NewDecoder(strings.NewReader(input))
	dec.UseNumber()
	if dec.Decode(&value) != nil {
		return input
	}
	var b strings.Builder
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v + "\n")
		case json.Number:
			b.WriteString(v.String() + "\n")
		case []any:
			for _, each := range v {
				walk(each)
			}
		case map[string]any:
			for _, each := range slices.Sorted(maps.Keys(v)) {
				walk(v[each])
			}
		}
	}
	walk(value)
	return b.String()
}

// promptTexts returns what the user wrote, and the prompt if one was made of it.
func promptTexts(text, typed string) []EventText {
	if typed == "" {
		return []EventText{{Part: PartMessage, Text: text}}
	}
	return []EventText{{Part: PartMessage, Text: typed}, {Part: PartPrompt, Text: text}}
}

// FoldText returns a text in the form in which texts are compared: rune by rune,
// so that case does not count, and one kind of white space is like another.
func FoldText(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < utf8.RuneSelf:
			if 'A' <= r && r <= 'Z' {
				return r + 'a' - 'A'
			}
			if '\t' <= r && r <= '\r' {
				return ' '
			}
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		if 'A' <= least && least <= 'Z' { // the sign of Kelvin is a k
			least += 'a' - 'A'
		}
		return least
	}, s)
}
