package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	acp "github.com/coder/acp-go-sdk"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/todo"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/internal/text"
)

// maxShown limits what a call's card is given of an output, in bytes.
const maxShown = 64 << 10

// tell tells the client of one event; past says that it is of the session's past.
func (o *session) tell(ev agent.Event, past bool) {
	switch d := ev.Data.(type) {
	case agent.UserInput:
		o.told.text, o.told.thought = 0, 0
		if past {
			o.update(acp.UpdateUserMessageText(d.Wrote()))
		}
	case agent.SteeringInjected:
		if past && !d.ByLoop && !d.Refused {
			o.update(acp.UpdateUserMessageText(d.Text))
		}
	case agent.TextStart:
		o.told.text, o.told.thought = 0, 0
	case agent.TextDelta:
		o.chunk(d.Text, d.Offset, &o.told.text, acp.UpdateAgentMessageText)
	case agent.ReasoningDelta:
		o.chunk(d.Text, d.Offset, &o.told.thought, acp.UpdateAgentThoughtText)
	case agent.TextEnd:
		o.answered(d, past)
	case agent.ToolCallStart:
		o.begun(d)
	case agent.ToolCallEnd:
		o.ended(d)
	case agent.ApprovalRequest:
		if !past {
			ctx, end := context.WithCancel(o.ctx)
			o.questions[d.ID] = end
			o.server.jobs.Go(func() { o.ask(ctx, d) })
		}
	case agent.ApprovalAnswer:
		o.answeredElsewhere(d.ID)
	case agent.SettingsChange:
		o.changed(d.Settings, past)
	case agent.Title:
		o.update(acp.SessionUpdate{SessionInfoUpdate: &acp.SessionSessionInfoUpdate{SessionUpdate: "session_info_update", Title: &d.Text}})
	case agent.Failure:
		o.mu.Lock()
		o.failure = strings.Join(strings.Fields(d.Message+" "+d.Kept+" "+d.Next), " ")
		o.mu.Unlock()
	case agent.Warning:
		if !past {
			o.update(acp.UpdateAgentThoughtText("\n" + d.Message + "\n"))
		}
	case agent.ProcessingEnd:
		for id := range o.questions {
			o.answeredElsewhere(id)
		}
		if !past && !d.Next {
			o.endTurn(acp.PromptResponse{StopReason: stopReason(d.Reason), Usage: usage(d.Usage)})
		}
	}
}

// answeredElsewhere ends a question that nobody needs to answer any more.
func (o *session) answeredElsewhere(id string) {
	if end := o.questions[id]; end != nil {
		end()
		delete(o.questions, id)
	}
}

// chunk sends streamed text that follows what was sent. What is missing comes with the whole.
func (o *session) chunk(text string, offset int, sent *int, as func(string) acp.SessionUpdate) {
	if offset != *sent {
		return
	}
	*sent += units(text)
	o.update(as(text))
}

// answered sends what was not streamed of an answer, and what the context holds.
func (o *session) answered(d agent.TextEnd, past bool) {
	var said, thought strings.Builder
	for _, p := range d.Message.Parts {
		if p.Kind == llm.PartReasoning && p.Reasoning != nil {
			thought.WriteString(p.Reasoning.Text)
		}
		if p.Kind == llm.PartText {
			said.WriteString(p.Text)
		}
	}
	if rest := from(thought.String(), o.told.thought); rest != "" {
		o.update(acp.UpdateAgentThoughtText(rest))
	}
	if rest := from(said.String(), o.told.text); rest != "" {
		o.update(acp.UpdateAgentMessageText(rest))
	}
	o.told.text, o.told.thought = 0, 0
	if past || !d.Usage.Known {
		return
	}
	now := acp.SessionUsageUpdate{SessionUpdate: "usage_update", Used: int(d.Usage.Total()), Size: int(o.window(llm.Origin{Provider: d.Provider, Model: d.Model}))}
	if info, err := call[backend.SessionInfo](o.ctx, o.host, "sessions.get", map[string]string{"session": o.id}); err == nil {
		now.Cost = &acp.Cost{Amount: info.Cost.Cost.Dollars(), Currency: "USD"}
	}
	o.update(acp.SessionUpdate{UsageUpdate: &now})
}

// window returns the context window of a model; 0 if it is not known.
func (o *session) window(by llm.Origin) int64 {
	if o.told.model != by {
		o.told.model, o.told.window = by, 0
		for _, p := range o.models(o.ctx) {
			for _, m := range p.Models {
				if p.ID == by.Provider && m.ID == by.Model {
					o.told.window = m.ContextWindow
				}
			}
		}
	}
	return o.told.window
}

// kinds are those of the tools, by their canonical names.
var kinds = map[string]acp.ToolKind{
	"Read": acp.ToolKindRead, "ReadMany": acp.ToolKindRead, "ListDir": acp.ToolKindRead, "Write": acp.ToolKindEdit, "Edit": acp.ToolKindEdit,
	"ApplyPatch": acp.ToolKindEdit, "MultiEdit": acp.ToolKindEdit, "NotebookEdit": acp.ToolKindEdit, "Bash": acp.ToolKindExecute, "Grep": acp.ToolKindSearch, "Glob": acp.ToolKindSearch,
	"WebFetch": acp.ToolKindFetch, "WebSearch": acp.ToolKindFetch, "Browser": acp.ToolKindFetch, "TodoWrite": acp.ToolKindThink, "ExitPlanMode": acp.ToolKindSwitchMode, "EnterPlanMode": acp.ToolKindSwitchMode,
}

func kindOf(tool string) acp.ToolKind {
	if kind, ok := kinds[tool]; ok {
		return kind
	}
	return acp.ToolKindOther
}

// about is what a call concerns: its title, and the file if it has one.
func (o *session) about(tool, input string) (title string, at []acp.ToolCallLocation) {
	var in struct {
		Path        string `json:"file_path"`
		Other       string `json:"path"`
		Command     string `json:"command"`
		Pattern     string `json:"pattern"`
		Query       string `json:"query"`
		URL         string `json:"url"`
		Description string `json:"description"`
	}
	if json.Unmarshal([]byte(input), &in) != nil {
		return tool, nil
	}
	path := in.Path
	if path == "" {
		path = in.Other
	}
	if path != "" {
		at = []acp.ToolCallLocation{{Path: o.absolute(path)}}
	}
	for _, what := range []string{in.Command, in.Pattern, in.Query, in.URL, path, in.Description} {
		if what != "" {
			line, _, _ := strings.Cut(strings.TrimSpace(what), "\n")
			return tool + " " + text.Shorten(line, 160), at
		}
	}
	return tool, at
}

func (o *session) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(o.folder, filepath.FromSlash(path))
}

func raw(input string) any {
	if json.Valid([]byte(input)) {
		return json.RawMessage(input)
	}
	return input
}

func (o *session) begun(d agent.ToolCallStart) {
	title, at := o.about(d.Tool, d.Input)
	o.update(acp.SessionUpdate{ToolCall: &acp.SessionUpdateToolCall{
		SessionUpdate: "tool_call", ToolCallId: acp.ToolCallId(d.CallID), Title: title, Kind: kindOf(d.Tool), Status: acp.ToolCallStatusInProgress, Locations: at, RawInput: raw(d.Input),
	}})
}

func (o *session) ended(d agent.ToolCallEnd) {
	status := acp.ToolCallStatusCompleted
	if d.IsError || d.Outcome != agent.OutcomeDone {
		status = acp.ToolCallStatusFailed
	}
	var content []acp.ToolCallContent
	if d.Details != nil && status == acp.ToolCallStatusCompleted {
		content = o.differences(d.Details.Changes)
	}
	if len(content) == 0 && d.Output != "" {
		content = []acp.ToolCallContent{acp.ToolContent(acp.TextBlock(fenced(text.Head(d.Output, maxShown))))}
	}
	o.update(acp.SessionUpdate{ToolCallUpdate: &acp.SessionToolCallUpdate{
		SessionUpdate: "tool_call_update", ToolCallId: acp.ToolCallId(d.CallID), Status: &status, Content: content, RawOutput: map[string]string{"output": text.Head(d.Output, maxShown)},
	}})
	if d.Tool == todo.Name && d.Details != nil && d.Details.Kept != nil {
		o.plan(d.Details.Kept.State)
	}
}

// plan shows the list of tasks, which the protocol calls a plan.
func (o *session) plan(state json.RawMessage) {
	var list todo.List
	if json.Unmarshal(state, &list) != nil {
		return
	}
	entries := []acp.PlanEntry{}
	for _, t := range list.Tasks {
		e := acp.PlanEntry{Content: t.Content, Priority: acp.PlanEntryPriorityMedium, Status: acp.PlanEntryStatusPending}
		switch t.Status {
		case todo.InProgress:
			e.Status = acp.PlanEntryStatusInProgress
		case todo.Completed:
			e.Status = acp.PlanEntryStatusCompleted
		case todo.Cancelled:
			continue
		}
		switch t.Priority {
		case "high":
			e.Priority = acp.PlanEntryPriorityHigh
		case "low":
			e.Priority = acp.PlanEntryPriorityLow
		}
		entries = append(entries, e)
	}
	o.update(acp.UpdatePlan(entries...))
}

// differences are the changes of files, a part of a file each.
func (o *session) differences(changes []agent.FileChange) (all []acp.ToolCallContent) {
	for _, c := range changes {
		path := c.Path
		if c.MovedTo != "" {
			path = c.MovedTo
		}
		for _, h := range hunks(c.Diff) {
			one := acp.ToolDiffContent(o.absolute(path), h.now)
			if !c.Created {
				one = acp.ToolDiffContent(o.absolute(path), h.now, h.old)
			}
			all = append(all, one)
		}
	}
	return all
}

type hunk struct{ old, now string }

// hunks returns the texts of the parts of a difference before and after it.
func hunks(diff string) (all []hunk) {
	var old, now strings.Builder
	end := func() {
		if old.Len()+now.Len() > 0 {
			all = append(all, hunk{old.String(), now.String()})
		}
		old.Reset()
		now.Reset()
	}
	for line := range strings.Lines(diff) {
		switch rest := line[1:]; line[0] {
		case '@':
			end()
		case '+':
			now.WriteString(rest)
		case '-':
			old.WriteString(rest)
		case ' ':
			old.WriteString(rest)
			now.WriteString(rest)
		}
	}
	end()
	return all
}

// fenced is an output as a block of code, whose fence it does not contain.
func fenced(output string) string {
	fence := "```"
	for strings.Contains(output, fence) {
		fence += "`"
	}
	return fmt.Sprintf("%s\n%s\n%s", fence, strings.TrimRight(output, "\n"), fence)
}

func stopReason(end agent.EndReason) acp.StopReason {
	switch end {
	case agent.EndDone, agent.EndStopped:
		return acp.StopReasonEndTurn
	case agent.EndLimit, agent.EndBudget:
		return acp.StopReasonMaxTurnRequests
	case agent.EndRefused:
		return acp.StopReasonRefusal
	case agent.EndFailed:
		return "" // an error says why
	}
	return acp.StopReasonCancelled
}

func usage(u llm.Usage) *acp.Usage {
	if !u.Known {
		return nil
	}
	read, write, thought := int(u.CacheRead), int(u.CacheWrite), int(u.Reasoning)
	return &acp.Usage{
		InputTokens: int(u.Input), OutputTokens: int(u.Output), TotalTokens: int(u.Total()),
		CachedReadTokens: &read, CachedWriteTokens: &write, ThoughtTokens: &thought,
	}
}

// tellCommands lists what can be typed after a slash.
func (o *session) tellCommands(ctx context.Context) {
	reply, err := call[backend.CommandsReply](ctx, o.host, "commands.list", map[string]string{"session": o.id})
	if err != nil {
		return // a list without commands is as good
	}
	all := []acp.AvailableCommand{}
	for _, c := range reply.Commands {
		if c.Kind == backend.CommandSkill {
			all = append(all, acp.AvailableCommand{Name: c.Name, Description: c.Description})
		}
	}
	o.update(acp.SessionUpdate{AvailableCommandsUpdate: &acp.SessionAvailableCommandsUpdate{SessionUpdate: "available_commands_update", AvailableCommands: all}})
}
