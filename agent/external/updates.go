package external

import (
	"context"
	"slices"
	"strconv"
	"strings"

	acp "github.com/coder/acp-go-sdk"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/internal/text"
)

// maxPaths limits the files of a step.
const maxPaths = 50

// SessionUpdate implements [acp.Client]. What is about another session is not heard.
func (r *running) SessionUpdate(_ context.Context, in acp.SessionNotification) error {
	defer r.order.heard()
	if r.mine(in.SessionId) != nil {
		return nil
	}
	switch u := in.Update; {
	case u.AgentMessageChunk != nil:
		r.say(llm.PartText, u.AgentMessageChunk.Content)
	case u.AgentThoughtChunk != nil:
		r.say(llm.PartReasoning, u.AgentThoughtChunk.Content)
	case u.ToolCall != nil:
		c := u.ToolCall
		r.stepped(c.ToolCallId, &c.Title, &c.Kind, &c.Status, c.Locations, c.Content)
	case u.ToolCallUpdate != nil:
		c := u.ToolCallUpdate
		r.stepped(c.ToolCallId, c.Title, c.Kind, c.Status, c.Locations, c.Content)
	case u.Plan != nil:
		r.planned(u.Plan.Entries)
	case u.UsageUpdate != nil:
		if cost := u.UsageUpdate.Cost; cost != nil && strings.EqualFold(cost.Currency, "USD") && cost.Amount < maxCost {
			r.mu.Lock()
			r.cost = max(r.cost, cost.Amount)
			r.mu.Unlock()
			r.tellsCost.Store(true)
		}
	}
	return nil
}

// The limits of an agent's plan.
const (
	maxPlanned = 50  // tasks
	maxTask    = 300 // bytes of one
	maxPlans   = 200 // of one prompt that are shown
)

// PlanTool keeps the session's list of tasks, which is where an agent's plan is shown.
const PlanTool = "TodoWrite"

type plannedTask struct {
	ID       string `json:"id"`
	Content  string `json:"content"`
	Status   string `json:"status"`
	Priority string `json:"priority,omitempty"`
}

// planned shows the agent's plan, as the session's list of tasks, whenever it changed.
func (r *running) planned(entries []acp.PlanEntry) {
	var tasks []plannedTask
	for _, e := range entries {
		said := strings.Join(strings.Fields(valid(text.Head(e.Content, maxTask))), " ")
		if said == "" || len(tasks) >= maxPlanned {
			continue
		}
		tasks = append(tasks, plannedTask{ID: strconv.Itoa(len(tasks) + 1), Content: said, Status: string(e.Status), Priority: string(e.Priority)})
	}
	r.mu.Lock()
	skip := r.done == nil || r.cancelled || len(tasks) == 0 || slices.Equal(tasks, r.plan) || r.plans >= maxPlans
	if !skip {
		r.plan = tasks
		r.plans++
	}
	r.mu.Unlock()
	if !skip {
		r.put(item{calls: []llm.ToolCall{newCall(PlanTool, map[string]any{"todos": tasks})}})
	}
}

// maxCost is more than a session can cost, in US dollars.
const maxCost = 1e6

// say adds text to the answer, if a prompt is being answered.
func (r *running) say(kind llm.PartKind, content acp.ContentBlock) {
	said := ""
	switch {
	case content.Text != nil:
		said = content.Text.Text
	case content.ResourceLink != nil:
		said = content.ResourceLink.Uri
	default:
		said = "[something that Atelier cannot show]"
	}
	r.mu.Lock()
	listening := r.done != nil && !r.cancelled
	r.mu.Unlock()
	if listening {
		r.put(item{kind: kind, text: valid(said)})
	}
}

// stepped follows a tool call of the agent. One that ends, and for which nothing came through
// the client, is what the agent did by itself: it is recorded.
func (r *running) stepped(id acp.ToolCallId, title *string, kind *acp.ToolKind, status *acp.ToolCallStatus, at []acp.ToolCallLocation, content []acp.ToolCallContent) {
	r.mu.Lock()
	s := r.steps[id]
	if s == nil {
		if r.done == nil || r.cancelled {
			r.mu.Unlock()
			return
		}
		if len(r.steps) >= maxSteps {
			r.unshown++
			r.mu.Unlock()
			return
		}
		s = &step{through: r.through}
		r.steps[id] = s
	}
	if title != nil && *title != "" {
		s.Title = valid(text.Head(*title, maxName))
	}
	if kind != nil && *kind != "" {
		s.Kind = string(*kind)
	}
	if paths := pathsOf(at, content); len(paths) > 0 {
		s.Paths = paths
	}
	if output, terminal := shown(content); output != "" || terminal {
		s.Output, s.terminal = output, s.terminal || terminal
	}
	over := status != nil && (*status == acp.ToolCallStatusCompleted || *status == acp.ToolCallStatusFailed) && !s.Failed
	record := over && !s.terminal && s.through == r.through
	if over {
		s.Failed = *status == acp.ToolCallStatusFailed
		s.through = -1 // it is recorded once
	}
	done := s.Step
	r.mu.Unlock()
	if record {
		r.put(item{calls: []llm.ToolCall{newCall(StepTool, done)}})
	}
}

// pathsOf returns the files that a call names.
func pathsOf(at []acp.ToolCallLocation, content []acp.ToolCallContent) (paths []string) {
	add := func(path string) {
		if path != "" && len(paths) < maxPaths && !slices.Contains(paths, path) {
			paths = append(paths, valid(text.Head(path, maxText)))
		}
	}
	for _, l := range at {
		add(l.Path)
	}
	for _, c := range content {
		if c.Diff != nil {
			add(c.Diff.Path)
		}
	}
	return paths
}

// shown returns the content of a call as a text, and whether it has a terminal.
func shown(content []acp.ToolCallContent) (out string, terminal bool) {
	var b strings.Builder
	for _, c := range content {
		switch {
		case c.Content != nil && c.Content.Content.Text != nil:
			b.WriteString(c.Content.Content.Text.Text + "\n")
		case c.Diff != nil:
			b.WriteString("--- " + c.Diff.Path + "\n")
			if c.Diff.OldText != nil {
				prefixed(&b, "-", *c.Diff.OldText)
			}
			prefixed(&b, "+", c.Diff.NewText)
		case c.Terminal != nil:
			terminal = true
		}
		if b.Len() > maxText {
			break
		}
	}
	return valid(text.Head(strings.TrimRight(b.String(), "\n"), maxText)), terminal
}

func prefixed(b *strings.Builder, sign, s string) {
	for line := range strings.Lines(text.Head(s, maxText)) {
		b.WriteString(sign + strings.TrimRight(line, "\n") + "\n")
	}
}
