package agent

import (
	"cmp"
	"errors"
	"slices"

	"atelier.dev/atelier/agent/llm"
)

// ForkPlace says where a log is cut for a fork: at an event, or after a number of
// messages. The zero value is the end of the log.
//
// At an input of the user, the cut is before it, so that another one can be sent in
// its place. At an answer it is after the results of the answer's calls, and at any
// other event after that event.
type ForkPlace struct {
	// Event is the place of an event in the log.
	Event int64 `json:"event,omitempty"`
	// Messages counts inputs of the user and answers of models, from the first one,
	// also those that were taken back. The last one of them is kept, whatever it is.
	Messages int `json:"messages,omitempty"`
}

// CutPoint is a place where a log can be cut.
type CutPoint struct {
	// Through is the place of the last event that remains; 0 if none does.
	Through int64
	// Prompt is the input that the cut was made at; empty if it was made elsewhere.
	Prompt string
	// admitted says that the newest input reached a model, although the answer may
	// be beyond the cut.
	admitted bool
}

// ErrNoSuchPlace says that a log has no such event, or not that many messages.
var ErrNoSuchPlace = errors.New("the log has no such place")

// ErrNotNumbered says that the events of a log have no ascending places: whoever
// stores events sets [Event.Seq], from 1 in their order.
var ErrNotNumbered = errors.New("the events of the log are not numbered: set Event.Seq when you store them, from 1 in their order")

// FindCut finds where a log is cut. The events are those of the whole log, in order.
// The error is [ErrNoSuchPlace] or [ErrNotNumbered].
func FindCut(log []Event, place ForkPlace) (CutPoint, error) {
	before := int64(0)
	for _, ev := range log {
		if ev.Seq <= before {
			return CutPoint{}, ErrNotNumbered
		}
		before = ev.Seq
	}
	if place.Event < 0 || place.Messages < 0 || place.Event > 0 && place.Messages > 0 {
		return CutPoint{}, ErrNoSuchPlace
	}
	i := len(log) - 1
	switch {
	case place.Messages > 0:
		left := place.Messages
		i = slices.IndexFunc(log, func(ev Event) bool {
			if isMessage(ev.Data) {
				left--
			}
			return left == 0
		})
	case place.Event > 0:
		i = slices.IndexFunc(log, func(ev Event) bool { return ev.Seq == place.Event })
	}
	if i < 0 {
		if place == (ForkPlace{}) {
			return CutPoint{}, nil
		}
		return CutPoint{}, ErrNoSuchPlace
	}
	if prompt, ok := promptOf(log[i].Data); ok && place.Event > 0 {
		return cutAfter(log, i-1, prompt), nil
	}
	if isMessage(log[i].Data) {
		i = endOfMessage(log, i)
	}
	return cutAfter(log, i, ""), nil
}

func isMessage(p Payload) bool {
	switch p.(type) {
	case UserInput, TextEnd:
		return true
	}
	return false
}

// promptOf returns what the user wrote.
func promptOf(p Payload) (string, bool) {
	switch d := p.(type) {
	case UserInput:
		return d.Wrote(), true
	case SteeringInjected:
		return d.Wrote(), !d.ByLoop
	}
	return "", false
}

// endOfMessage returns the last event that belongs to the message at i: the results
// of an answer's calls, or what hooks said about an input. The end of its turn does
// too, if nothing else is before it.
func endOfMessage(log []Event, i int) int {
	for i+1 < len(log) {
		switch log[i+1].Data.(type) {
		case UserInput, SteeringInjected, TextEnd, TurnContinued, CompactionStart, LocalCommandStart,
			Rewound, RewindUndone, CompactionUndone, ContextMarked, FilesRestored, Forked, SessionStart, SessionEnd:
			return i
		case ProcessingEnd:
			return i + 1
		}
		i++
	}
	return i
}

// cutAfter returns the cut after event i; -1 leaves nothing.
func cutAfter(log []Event, i int, prompt string) CutPoint {
	c := CutPoint{Prompt: prompt}
	if i < 0 {
		return c
	}
	c.Through = log[i].Seq
	for _, ev := range log[i+1:] {
		switch ev.Data.(type) {
		case TextEnd:
			c.admitted = true
			return c
		case UserInput, ProcessingEnd:
			return c
		}
	}
	return c
}

const (
	severedCall   = "The conversation was forked while this call was under way. Whether it had any effect is unknown: check before repeating it."
	severedBefore = "The conversation was forked before this call ran. It can be made again."
	severedOutput = "[The conversation was forked while this command ran. What it printed is not known here.]"
	severedWork   = "The conversation was forked before it was done."
)

// Sever returns what ends everything that is under way where a copy of a log was
// cut, so that the copy is at rest and its next request is one that providers
// accept. The transcript is the fold of the log up to the cut.
func (t *Transcript) Sever(c CutPoint) []Payload {
	var ends []Payload
	if open := t.past.compaction.open; open != nil {
		end := open.cut()
		end.Message = severedWork
		ends = append(ends, end)
	}
	if start := t.past.command; start != nil {
		return append(ends, LocalCommandEnd{ID: start.ID, Command: start.Command, Outcome: OutcomeInterrupted, Output: severedOutput})
	}
	if t.State != StateProcessing && t.State != StateAwaitingInput || t.past.compaction.open != nil && t.past.compaction.open.Trigger == CompactManual {
		return ends
	}
	for _, call := range t.open.all() {
		told := severedBefore
		if call.started {
			told = severedCall
		}
		ends = append(ends, ToolCallEnd{
			CallID: call.call.ID, Tool: cmp.Or(call.tool, call.call.Name), Output: told, IsError: true, Outcome: OutcomeInterrupted,
		})
	}
	end := ProcessingEnd{Reason: EndInterrupted, Usage: llm.Usage{Known: true}}
	if t.past.unsent && !c.admitted { // nobody knows what hooks think of the input
		ends = append(ends, Warn(WarnPromptUndecided))
		end.Reason = EndRefused
	}
	return append(ends, end)
}

// movedText tells a model that it does not work any more where it did.
const movedText = "The conversation above is a copy from another session. From here on you work somewhere else: the system prompt names the folder, " +
	"and paths above belong to the earlier one. Changes that were made there and not committed are not here. Read a file before you rely on what it says."

// applyCopy folds in that the log up to here is a copy: what was spent before counts
// elsewhere.
func (t *Transcript) applyCopy(p Payload) {
	t.Usage, t.Cost = llm.Usage{Known: true}, llm.Spending{}
	t.past.within = nil // a copy is nobody's agent
	if fork, ok := p.(Forked); ok && fork.Moved {
		t.past.briefed, t.past.told = nil, nil
		t.remind(Reminder(movedText))
	}
}

// copiedEvents returns how many events at the beginning of a log are a copy from
// another session.
func copiedEvents(log []Event) int {
	for i, ev := range slices.Backward(log) {
		if _, ok := ev.Data.(Forked); ok {
			return i
		}
	}
	return 0
}
