package agent

import (
	"cmp"
	"encoding/json"

	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
)

// Transcript is the fold of a session's events. A running session applies its
// own events as it emits them, a reopened one applies the stored ones, so the
// two cannot differ. The zero value is a session without events.
type Transcript struct {
	Settings Settings
	State    State
	Turn     int
	LastEnd  EndReason
	// Usage sums all requests; Context is the size of the newest one.
	Usage   llm.Usage
	Context int64
	// Cost sums all requests (OAS-114).
	Cost  llm.Spending
	Title Title

	conversation contextir.Conversation
	open         openCalls
	past         past
	tally        tally
}

// past is what else is remembered, about models and about the session.
type past struct {
	briefed map[llm.Origin]Briefing // by provider and model
	count   int                     // assistant messages that are not empty
	answerers
	told    map[llm.Origin]BriefingState // what each model has been told, by provider and model
	repairs map[string]bool              // subjects that were reported
	begun   bool                         // there was an input since the session was opened
	calls   map[string]bool              // ids of all calls
	command *LocalCommandStart           // of the user's, under way
	unsent  bool                         // nothing in the log says that the newest input reached a model
	held    bool                         // the newest turn, or a user's command after it, did not end by itself

	compaction compaction
	kept       map[string]KeptState // by the tool that keeps it
	used
}

// used is what is known of skills.
type used struct {
	within []SkillUse        // in use where this agent was started, the outermost first
	skills []SkillUse        // in use, the outermost first
	typed  map[string]string // what the user typed, by the text that was made of it
}

// answerers are providers and models of the last assistant message; nil before the
// first. by is the chosen one, not the fallback.
type answerers struct{ last, by *llm.Origin }

// forget clears a command or compaction that has no end in the log, because the
// log could not be written. The next event shows that it is over.
func (p *past) forget() { p.command, p.compaction.open = nil, nil }

// openCall is a call of the newest assistant message.
type openCall struct {
	call    llm.ToolCall
	tool    string // its canonical name, once it has started
	started bool
	ended   bool             // it has a result and is no longer open
	request *ApprovalRequest // set while it waits for a person
}

// openCalls holds the calls of the newest assistant message, in their order.
type openCalls struct {
	calls []openCall
	at    map[string]int // index of each call by its id
}

// newOpenCalls returns calls that have no result yet.
func newOpenCalls(calls []llm.ToolCall) openCalls {
	o := openCalls{calls: make([]openCall, len(calls)), at: make(map[string]int, len(calls))}
	for i, c := range calls {
		o.calls[i].call, o.at[c.ID] = c, i
	}
	return o
}

// get returns the open call with the id; nil if there is none.
func (o *openCalls) get(id string) *openCall {
	if i, ok := o.at[id]; ok && !o.calls[i].ended {
		return &o.calls[i]
	}
	return nil
}

// all returns the open calls.
func (o *openCalls) all() (open []openCall) {
	for _, c := range o.calls {
		if !c.ended {
			open = append(open, c)
		}
	}
	return open
}

// Apply folds one event in. Events must come in order; deltas change nothing.
func (t *Transcript) Apply(ev Event) {
	if t.State == "" {
		t.State, t.Usage.Known = StateIdle, true
	}
	switch ev.Data.(type) {
	case Briefing, BriefingUpdate, TextEnd, Retrying, Failure, CompactionStart, TurnLimit, ProcessingEnd:
		t.past.unsent = false // all of them come after the hooks were asked
	}
	switch d := ev.Data.(type) {
	case SettingsChange:
		t.Settings, t.past.compaction.failures, t.past.compaction.paused = d.Settings, 0, false // a new model or budget may make compaction work again
	case Briefing:
		t.applyBriefing(d)
	case BriefingUpdate:
		t.applyUpdate(d)
	case Title:
		t.Title = d
	case UserInput:
		t.applyInput(ev.Turn, d)
	case TurnContinued:
		t.State = StateProcessing
		t.past.forget()
	case SteeringInjected:
		t.applySteering(d)
	case TextEnd:
		t.applyAnswer(d)
	case Warning:
		t.applyWarning(d)
	case SideRequest:
		t.applySideRequest(d)
	case Retrying:
		t.applyRetry(d)
	case HistoryRepaired:
		t.applyRepair(d)
	case CompactionStart:
		t.past.forget()
		t.past.compaction.open, t.State = &d, StateProcessing
	case CompactionEnd:
		t.applyCompaction(d, ev.At)
	case ContextMarked, CompactionUndone:
		t.applyDecision(d)
	case ToolCallStart:
		if c := t.openCall(d.CallID); c != nil {
			c.started, c.tool = true, d.Tool
		}
	case ApprovalRequest:
		t.asks(StateAwaitingInput, d.CallID, &d)
	case ApprovalAnswer:
		t.asks(StateProcessing, d.CallID, nil)
	case ToolCallEnd:
		t.applyResult(d)
	case FilesRestored:
		t.applyRestored(d)
	case Rewound:
		t.applyRewound()
	case Forked, Imported:
		t.applyCopy(d)
	case Moved:
		t.remind(Reminder(EscapeTags("The project folder was moved from " + d.From + " to " + d.Folder + ". Earlier paths in it are at the new place now.")))
	case LocalCommandStart:
		t.beginCommand(d)
	case LocalCommandEnd:
		t.applyCommand(d)
	case ProcessingEnd:
		if d.Reason == EndRefused {
			t.tally.added -= min(t.tally.added, t.conversation.Withdraw())
		}
		t.State, t.LastEnd, t.open = StateIdle, d.Reason, openCalls{}
		t.past.held = d.Reason != EndDone
		t.past.forget()
	case SessionStart:
		t.State, t.past.begun = StateIdle, false
		if d.Helper != nil {
			t.past.within = d.Helper.Skills
		}
	case SessionEnd:
		t.State = StateClosed
	}
}

// asks sets what a call asks a person; nil means nothing any more.
func (t *Transcript) asks(state State, call string, request *ApprovalRequest) {
	t.State = state
	if c := t.openCall(call); c != nil {
		c.request = request
	}
}

func (t *Transcript) applyInput(turn int, d UserInput) {
	t.Turn, t.State = turn, StateProcessing
	t.conversation.Begin(turn)
	t.past.begun, t.past.unsent = true, true
	t.past.forget()
	if t.past.skills = nil; d.Skill != nil {
		t.past.skills = d.Skill.After(nil)
	}
	t.note(d.Text, d.Typed)
	t.wrote(contextir.UserMessage, d.Text, d.Media)
}

// wrote adds a message of the user with its pictures.
func (t *Transcript) wrote(kind contextir.ItemType, text string, media []llm.Media) {
	m := llm.Text(llm.RoleUser, text)
	t.tally.added += len(text)
	m.Parts = append(m.Parts, t.shown(media)...)
	t.conversation.Append(kind, m)
}

// shown returns the parts of a message that hold pictures, and counts them.
func (t *Transcript) shown(media []llm.Media) []llm.Part {
	parts := make([]llm.Part, len(media))
	for i := range media {
		parts[i] = llm.Part{Kind: llm.PartMedia, Media: &media[i]}
		t.tally.added += pictureTokens * bytesPerToken
	}
	return parts
}

// note remembers what the user typed, if a text was made of it.
func (t *Transcript) note(text, typed string) {
	if typed == "" {
		return
	}
	if t.past.typed == nil {
		t.past.typed = map[string]string{}
	}
	t.past.typed[text] = typed
}

func (t *Transcript) applySideRequest(d SideRequest) {
	t.Usage = t.Usage.Add(d.Usage)
	t.Cost.Add(d.Cost)
}

func (t *Transcript) applySteering(d SteeringInjected) {
	switch {
	case d.Refused:
	case d.ByLoop:
		t.remind(Reminder(EscapeTags(d.Text)))
	default:
		t.note(d.Text, d.Typed)
		t.wrote(contextir.SteeringMessage, d.Text, d.Media)
	}
}

// remind adds a [Reminder] to the conversation.
func (t *Transcript) remind(text string) {
	t.conversation.Append(contextir.SystemReminder, llm.Text(llm.RoleUser, text))
	t.tally.added += len(text)
}

func (t *Transcript) applyAnswer(d TextEnd) {
	t.conversation.Append(contextir.AssistantMessage, d.Message)
	calls := d.Message.Calls()
	t.open = newOpenCalls(calls)
	t.spend(d)
	t.past.last = &llm.Origin{Provider: d.Provider, Model: d.Model}
	if now := t.effective(); d.Provider == now.Provider && d.Model == now.Model {
		t.past.by = &llm.Origin{Provider: d.Provider, Model: d.Model}
	}
	delete(t.past.repairs, d.Provider+"/"+d.Model)
	if d.Usage.Known {
		t.Context, t.tally = d.Usage.Total(), tally{counted: true, items: t.conversation.Len()}
		return
	}
	// A broken-off answer is sent from now on, and no provider has counted it.
	t.tally.added += contextir.Bytes(d.Message)
}

// spend counts an answer with its calls, whether or not it stands.
func (t *Transcript) spend(d TextEnd) {
	if t.past.calls == nil {
		t.past.calls = map[string]bool{}
	}
	for _, c := range d.Message.Calls() {
		t.past.calls[c.ID] = true
	}
	if len(d.Message.Parts) > 0 {
		t.past.count++
	}
	t.Usage = t.Usage.Add(d.Usage)
	t.Cost.Add(d.Cost)
}

func (t *Transcript) applyRetry(d Retrying) {
	if d.Usage.Known {
		t.Usage = t.Usage.Add(d.Usage)
	}
	if d.Counts() {
		t.Cost.Add(d.Cost)
	}
}

func (t *Transcript) applyRepair(d HistoryRepaired) {
	switch d.Repair {
	case RepairElided:
		// A provider's reasoning is bound to what it had read.
		t.conversation.DropNative()
		t.Context -= min(t.Context, int64(t.conversation.Elide(d.Bytes)/bytesPerToken))
		t.tally.counted = false
	case RepairPictures, RepairForeign:
		if t.past.repairs == nil {
			t.past.repairs = map[string]bool{}
		}
		t.past.repairs[d.Subject] = true
	default:
		before := t.conversation.Bytes()
		d.apply(&t.conversation)
		gone := max(0, before-t.conversation.Bytes())
		uncounted := min(gone, t.tally.added)
		t.tally.added -= uncounted
		t.Context -= min(t.Context, int64((gone-uncounted)/bytesPerToken))
		t.tally.items = min(t.tally.items, t.conversation.Len())
	}
}

func (t *Transcript) applyResult(d ToolCallEnd) {
	t.past.compaction.noteChanges(d.Details)
	c := t.openCall(d.CallID)
	if c == nil {
		return
	}
	c.ended = true
	if d.Details != nil && d.Details.Skill != nil && !d.IsError {
		t.past.skills = d.Details.Skill.After(t.past.skills)
	}
	if d.Details != nil && d.Details.Kept != nil {
		t.keep(d.Tool, *d.Details.Kept)
	}
	t.tally.added += len(d.ForModel())
	part := contextir.Answer(c.call, d.ForModel(), d.IsError)
	if !d.Withheld {
		part.Result.Parts = append(part.Result.Parts, t.shown(d.Media)...)
	}
	t.conversation.Append(contextir.ToolResult, llm.Message{Role: llm.RoleTool, Parts: []llm.Part{part}})
}

func (t *Transcript) openCall(id string) *openCall { return t.open.get(id) }

// Pending returns the approval requests that nobody has answered.
func (t *Transcript) Pending() []ApprovalRequest {
	var out []ApprovalRequest
	for _, c := range t.open.calls {
		if c.request != nil && !c.ended {
			out = append(out, *c.request)
		}
	}
	return out
}

// LastExchange is what the user wrote and the model's last answer to it.
type LastExchange struct{ Input, Answer string }

// Exchanges returns inputs and answers without the work between them, for small
// jobs that need the topic of the conversation.
func (t *Transcript) Exchanges() []LastExchange {
	var all []LastExchange
	for it := range t.conversation.Items() {
		switch it.Type {
		case contextir.CompactionSummary:
			for _, text := range t.conversation.Words() {
				all = append(all, LastExchange{Input: text})
			}
		case contextir.UserMessage:
			text := it.Message.Text()
			all = append(all, LastExchange{Input: cmp.Or(t.past.typed[text], text)})
		case contextir.AssistantMessage:
			if text := it.Message.Text(); text != "" && len(all) > 0 {
				all[len(all)-1].Answer = text
			}
		}
	}
	return all
}

// gateCall rebuilds what the gate saw when it asked.
func (r ApprovalRequest) gateCall() GateCall {
	return GateCall{Tool: r.Tool, Input: json.RawMessage(r.Input), Access: r.Access}
}
