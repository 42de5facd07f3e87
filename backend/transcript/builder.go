package transcript

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
)

// builder makes a sound log from what a file says, in the order of the file: turns
// begin with an input and end, an answer is one event, each call of it has one end,
// and every call has an id of its own.
type builder struct {
	log
	title agent.Title
	turn  turn

	model  string // of the answers that follow, where the file says it before them
	answer *answer
	calls  []call // those of the newest answer that have no result
	called int    // calls so far

	found agent.Imported
}

// log passes events on.
type log struct {
	yield   func(agent.Event, error) bool
	stopped bool
	at      int64           // the time of what follows
	waiting []agent.Payload // what precedes the first event of the file
	before  int64           // how many those were
	count   int64           // the events so far
	said    bool            // the file says something
}

// turn is the newest turn.
type turn struct {
	number      int
	open        bool
	interrupted bool
	rounds      int
}

// answer is an answer whose parts are still read.
type answer struct {
	id              string
	parts           []llm.Part
	provider, model string
	usage           llm.Usage
	finish          llm.FinishReason
}

// call is a call without a result.
type call struct {
	id, foreign string
	tool, input string
}

// emit emits an event, and what waits for the first one before it, which then has its
// time.
func (b *builder) emit(p agent.Payload) {
	waiting := b.waiting
	b.waiting = nil
	for _, p := range waiting {
		b.put(0, p)
	}
	switch p.(type) {
	case agent.UserInput, agent.TextEnd, agent.LocalCommandStart:
		b.said = true
	}
	b.put(b.turn.number, p)
}

func (b *builder) put(turn int, p agent.Payload) {
	if !b.stopped {
		b.count++
		b.stopped = !b.yield(agent.Event{Turn: turn, At: b.at, Data: p}, nil)
	}
}

// when sets the time of what follows. A time that makes no sense changes nothing.
func (b *builder) when(t time.Time) {
	if y := t.UTC().Year(); y >= 2000 && y < 2200 {
		b.at = t.UnixMilli()
	}
}

// whenText is when for a time in the form of RFC 3339.
func (b *builder) whenText(text string) {
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		b.when(t)
	}
}

// clean returns a text that every provider takes.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// name gives the session a title that its program gave it. One that precedes what was
// said has the time of the first event, since the file has none for it.
func (b *builder) name(title string) {
	if title = backend.TitleFrom(clean(title)); title != "" && title != b.title.Text {
		b.title = agent.Title{Text: title}
		if !b.said {
			b.waiting = append(slices.Clip(b.waiting), b.title)
			return
		}
		b.emit(b.title)
	}
}

// input begins a turn.
func (b *builder) input(text string) {
	if text = clean(text); strings.TrimSpace(text) == "" {
		return
	}
	if b.begin(text); b.title.Text == "" {
		b.name(text)
	}
}

func (b *builder) begin(text string) {
	b.end()
	b.turn = turn{number: b.turn.number + 1, open: true}
	b.emit(agent.UserInput{Text: text})
}

// nothingAsked stands for the input of an answer that has none.
const nothingAsked = "(The transcript does not say what was asked here.)"

// part adds to the answer with the id. Parts of one answer follow each other.
func (b *builder) part(id string, p llm.Part) {
	if b.answer != nil && b.answer.id != id {
		b.settle()
	}
	if !b.turn.open {
		b.begin(nothingAsked)
	}
	if b.answer == nil {
		b.answer = &answer{id: id}
	}
	if p.Kind == llm.PartToolCall {
		b.called++
		p.Call.WireID, p.Call.ID = p.Call.ID, fmt.Sprintf("imported-%d", b.called)
	}
	b.answer.parts = append(b.answer.parts, p)
}

// text adds a text to the answer with the id, and reasoning adds thinking.
func (b *builder) text(id, text string) {
	if text = clean(text); text != "" {
		b.part(id, llm.Part{Kind: llm.PartText, Text: text})
	}
}

func (b *builder) reasoning(id, text string) {
	if text = clean(text); text != "" {
		b.part(id, llm.Part{Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{Text: text}})
	}
}

// call adds a call to the answer with the id. Its own id is the file's, which need not
// be unique.
func (b *builder) call(id string, c llm.ToolCall) {
	c.ID, c.Name = clean(c.ID), clean(c.Name)
	if c.Name == "" {
		c.Name = "unknown"
	}
	c.Arguments = json.RawMessage(clean(string(c.Arguments)))
	if !c.Custom && len(c.Arguments) == 0 {
		c.Arguments = json.RawMessage("{}")
	}
	b.part(id, llm.Part{Kind: llm.PartToolCall, Call: &c})
}

// settle emits the answer that was read, if there is one.
func (b *builder) settle() {
	a := b.answer
	if a == nil {
		return
	}
	b.closeCalls()
	b.answer = nil
	finish := llm.Finish{Reason: a.finish}
	for i, p := range a.parts {
		if p.Kind != llm.PartToolCall {
			continue
		}
		tool, input := canonical(*p.Call)
		b.calls = append(b.calls, call{id: p.Call.ID, foreign: p.Call.WireID, tool: tool, input: input})
		a.parts[i].Call.WireID = "" // another program's ids are not sent
		finish.Reason = llm.FinishToolCalls
	}
	if finish.Reason == "" {
		finish.Reason = llm.FinishStop
	}
	origin := &llm.Origin{Provider: a.provider, API: "imported", Model: a.model}
	b.turn.rounds++
	b.emit(agent.TextEnd{
		Message: llm.Message{Role: llm.RoleAssistant, Parts: a.parts, Origin: origin},
		Usage:   a.usage, Finish: finish, Provider: a.provider, Model: a.model,
	})
}

// result ends the call with the file's id; unknown ones are counted as not
// understood.
func (b *builder) result(foreign, output string, failed bool) {
	b.settle()
	for i, c := range b.calls {
		if c.foreign != clean(foreign) {
			continue
		}
		b.calls = append(b.calls[:i:i], b.calls[i+1:]...)
		outcome := agent.OutcomeDone
		if failed {
			outcome = agent.OutcomeFailed
		}
		b.endCall(c, clean(output), failed, outcome)
		return
	}
	b.found.Skipped++
}

func (b *builder) endCall(c call, output string, failed bool, outcome agent.Outcome) {
	b.emit(agent.ToolCallStart{CallID: c.id, Tool: c.tool, Input: c.input})
	b.emit(agent.ToolCallEnd{CallID: c.id, Tool: c.tool, Output: output, IsError: failed, Outcome: outcome})
}

// noResult is what a model is told of a call that has none.
const noResult = "The transcript has no result of this call."

// closeCalls ends the calls that have no result.
func (b *builder) closeCalls() {
	for _, c := range b.calls {
		b.turn.interrupted = true
		b.endCall(c, noResult, true, agent.OutcomeInterrupted)
	}
	b.calls = nil
}

// compacted says that the program went on with a summary instead of what came
// before.
func (b *builder) compacted(summary string) {
	b.settle()
	b.closeCalls()
	if summary = clean(summary); summary == "" {
		return
	}
	b.emit(agent.CompactionStart{Trigger: agent.CompactAuto})
	b.emit(agent.CompactionEnd{Trigger: agent.CompactAuto, Outcome: agent.OutcomeDone, Summary: summary})
}

// end ends the turn, if there is one.
func (b *builder) end() {
	b.settle()
	if !b.turn.open {
		return
	}
	b.closeCalls()
	reason := agent.EndDone
	if b.turn.interrupted || b.turn.rounds == 0 {
		reason = agent.EndInterrupted
	}
	b.emit(agent.ProcessingEnd{Reason: reason, Rounds: b.turn.rounds})
	b.turn.open = false
}

// picture notes a picture, which is not taken over.
func (b *builder) picture() string {
	b.found.Pictures++
	return "[A picture was here.]"
}
