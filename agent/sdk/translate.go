package sdk

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
)

// Messages translates the events of one session as they come. An error is
// passed on beside an empty message.
func Messages(events iter.Seq2[agent.Event, error]) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		t := NewTranslator()
		for ev, err := range events {
			if err != nil {
				yield(Message{}, err)
				return
			}
			for _, m := range t.Translate(ev) {
				if !yield(m, nil) {
					return
				}
			}
		}
	}
}

// Translator turns the events of one session into messages, for hosts that are
// given events one by one. It remembers what a turn came to so far, and which
// tasks were seen. It must not be used from several goroutines at once.
type Translator struct {
	result agent.QueryResult
	counts []ToolCount
	tasks  map[taskKey]bool
}

// taskKey is what tells tasks apart.
type taskKey struct {
	kind TaskKind
	id   string
}

// NewTranslator returns a translator that has seen nothing yet.
func NewTranslator() *Translator {
	return &Translator{result: agent.NewQueryResult(), tasks: map[taskKey]bool{}}
}

// Translate returns the messages of the session's next event, in order. Every
// durable event has at least one.
func (t *Translator) Translate(ev agent.Event) []Message {
	t.result.Apply(ev)
	var messages []Message
	for _, data := range t.payloads(ev.Data) {
		messages = append(messages, Message{Session: ev.Session, Seq: ev.Seq, Turn: ev.Turn, At: ev.At, Data: data})
	}
	return messages
}

func (t *Translator) payloads(data agent.Payload) []Payload {
	switch d := data.(type) {
	case agent.TextStart, agent.CallDraft, agent.LocalCommandOutput:
		return nil // the answer, the call itself or the whole output follows
	case agent.TextDelta:
		return []Payload{PartialMessage{Text: d.Text}}
	case agent.ReasoningDelta:
		return []Payload{PartialMessage{Thinking: d.Text}}
	case agent.TextEnd:
		return []Payload{assistant(d)}
	case agent.UserInput:
		return []Payload{UserMessage{Text: d.Text, QueueID: d.QueueID}}
	case agent.SteeringInjected:
		return []Payload{UserMessage{Text: d.Text, Steering: true, ByLoop: d.ByLoop, QueueID: d.QueueID}}
	case agent.ToolCallStart:
		return []Payload{ToolUse{CallID: d.CallID, Tool: d.Tool, Input: asJSON(d.Input)}}
	case agent.ToolCallOutput:
		return []Payload{ToolProgress(d)}
	case agent.ToolCallEnd:
		return t.callEnded(d)
	case agent.LocalCommandEnd:
		return []Payload{LocalCommandOutput(d)}
	case agent.HookStart:
		return []Payload{HookStarted(d)}
	case agent.HookOutput:
		return []Payload{HookProgress(d)}
	case agent.HookEnd:
		return []Payload{HookResponse(d)}
	case agent.PromptSuggestion:
		return []Payload{PromptSuggestion(d)}
	case agent.ProcessingEnd:
		return t.turnEnded(d)
	case agent.Failure:
		if d.Code == string(llm.ClassAuth) {
			return []Payload{AuthStatus(d)}
		}
	}
	return []Payload{System{Subtype: data.Kind(), Data: data}}
}

func assistant(d agent.TextEnd) Assistant {
	var thinking strings.Builder
	for _, p := range d.Message.Parts {
		if p.Reasoning != nil {
			thinking.WriteString(p.Reasoning.Text)
		}
	}
	return Assistant{
		Provider: d.Provider, Model: d.Model, Text: d.Message.Text(), Thinking: thinking.String(),
		StopReason: d.Finish.Reason, Usage: d.Usage, Cost: d.Cost,
	}
}

// asJSON returns a call's input as a JSON value.
func asJSON(input string) json.RawMessage {
	if json.Valid([]byte(input)) {
		return json.RawMessage(input)
	}
	quoted, err := json.Marshal(input)
	if err != nil {
		return json.RawMessage("null") // no string fails to encode
	}
	return quoted
}

// callEnded counts a call, and tells what its details say each in a message
// of its own.
func (t *Translator) callEnded(d agent.ToolCallEnd) []Payload {
	t.count(d)
	result := ToolResult{
		CallID: d.CallID, Tool: d.Tool, Content: d.ForModel(), IsError: d.IsError,
		Outcome: d.Outcome, DurationMs: d.DurationMs, Media: d.Media,
	}
	if d.ModelOutput != nil {
		result.Output = d.Output
	}
	if d.Details == nil {
		return []Payload{result}
	}
	result.Command, result.Listing = d.Details.Command, d.Details.Listing
	messages := []Payload{result}
	if files := d.Details.Changes; len(files) > 0 {
		messages = append(messages, FilesPersisted{CallID: d.CallID, Files: files})
	}
	if c := d.Details.Command; c != nil && c.Task != "" {
		messages = append(messages, t.task(Task{ID: c.Task, Kind: TaskCommand, CallID: d.CallID, Tool: d.Tool}))
	}
	if a := d.Details.Agent; a != nil {
		messages = append(messages, t.task(Task{ID: a.Session, Kind: TaskAgent, CallID: d.CallID, Tool: d.Tool}))
	}
	return messages
}

func (t *Translator) count(d agent.ToolCallEnd) {
	i := slices.IndexFunc(t.counts, func(c ToolCount) bool { return c.Tool == d.Tool })
	if i < 0 {
		i = len(t.counts)
		t.counts = append(t.counts, ToolCount{Tool: d.Tool})
	}
	t.counts[i].Calls++
	if d.IsError {
		t.counts[i].Errors++
	}
}

// task says of a task that it started, or where it was seen again.
func (t *Translator) task(task Task) Payload {
	key := taskKey{task.Kind, task.ID}
	if t.tasks[key] {
		return TaskProgress{task}
	}
	t.tasks[key] = true
	return TaskStarted{task}
}

// turnEnded reports the result of the turn, and resets the counts.
func (t *Translator) turnEnded(d agent.ProcessingEnd) []Payload {
	var messages []Payload
	if len(t.counts) > 0 {
		messages = append(messages, ToolUseSummary{Tools: t.counts})
	}
	r := t.result
	t.result, t.counts = agent.NewQueryResult(), nil
	return append(messages, Result{
		Status: r.Status, Text: r.Text, Rounds: r.Rounds, Turns: r.Turns, Usage: r.Usage,
		TotalCost: r.Cost.Cost, CostUnknown: r.Cost.Unknown, CostByModel: r.ByModel,
		Cancelled: r.Status == agent.StatusCancelled, Next: d.Next, Failure: r.Failure,
	})
}
