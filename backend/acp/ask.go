package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	acp "github.com/coder/acp-go-sdk"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/ask"
)

// The answers that a client can give.
const (
	allowOnce    = "allow"
	allowSession = "allow_session"
	deny         = "deny"
	choice       = "option-" // and the option's number
)

// ask has the client's user decide about a call, and answers it. Its context ends with the
// question.
func (o *session) ask(ctx context.Context, r agent.ApprovalRequest) {
	answer, ok := o.answerTo(ctx, r)
	if !ok || ctx.Err() != nil {
		return // the turn was cancelled, or the window has answered
	}
	in := map[string]any{"session": o.id, "approval": r.ID, "answer": answer}
	if _, err := call[json.RawMessage](o.ctx, o.host, "conversation.answer", in); err != nil && o.ctx.Err() == nil {
		o.update(acp.UpdateAgentThoughtText("\n" + err.Error() + "\n")) // such as that the window has answered
	}
}

func (o *session) answerTo(ctx context.Context, r agent.ApprovalRequest) (agent.Answer, bool) {
	if r.Tool == ask.Name {
		return o.answers(ctx, r)
	}
	options := []acp.PermissionOption{
		{OptionId: allowOnce, Name: "Allow", Kind: acp.PermissionOptionKindAllowOnce},
		{OptionId: allowSession, Name: "Allow for this session", Kind: acp.PermissionOptionKindAllowAlways},
		{OptionId: deny, Name: "Deny", Kind: acp.PermissionOptionKindRejectOnce},
	}
	if r.EachTime {
		options = append(options[:1:1], options[2])
	}
	content := o.differences(r.Changes)
	if r.Reason != "" {
		content = append([]acp.ToolCallContent{acp.ToolContent(acp.TextBlock(r.Reason))}, content...)
	}
	switch chosen := o.permission(ctx, r, options, content); chosen {
	case "":
		return agent.Answer{}, false
	case allowOnce:
		return agent.Answer{Decision: agent.Allow}, true
	case allowSession:
		if !r.EachTime {
			return agent.Answer{Decision: agent.Allow, Scope: agent.ScopeSession}, true
		}
	}
	return agent.Answer{Decision: agent.Deny}, true
}

// permission asks the client, and returns the id of what was chosen; empty if the question
// was cancelled.
func (o *session) permission(ctx context.Context, r agent.ApprovalRequest, options []acp.PermissionOption, content []acp.ToolCallContent) string {
	title, at := o.about(r.Tool, r.Input)
	kind, status := kindOf(r.Tool), acp.ToolCallStatusPending
	reply, err := o.server.conn.RequestPermission(ctx, acp.RequestPermissionRequest{
		SessionId: acp.SessionId(o.id), Options: options,
		ToolCall: acp.ToolCallUpdate{
			ToolCallId: acp.ToolCallId(r.CallID), Title: &title, Kind: &kind, Status: &status, Locations: at, RawInput: raw(r.Input), Content: content,
		},
	})
	switch {
	case err != nil && ctx.Err() == nil:
		return deny // a client that cannot ask allows nothing
	case err != nil || reply.Outcome.Selected == nil:
		return ""
	}
	return string(reply.Outcome.Selected.OptionId)
}

// answers asks the questions of a model: as a form if the client has forms, else one after
// another as permissions, of which the options are the answers.
func (o *session) answers(ctx context.Context, r agent.ApprovalRequest) (agent.Answer, bool) {
	var in ask.Input
	if err := json.Unmarshal([]byte(r.Input), &in); err != nil || len(in.Questions) == 0 {
		return agent.Answer{Decision: agent.Deny}, true
	}
	o.server.mu.Lock()
	forms := o.server.client.Elicitation != nil && o.server.client.Elicitation.Form != nil
	o.server.mu.Unlock()
	if forms {
		return o.form(ctx, in.Questions)
	}
	var reply ask.Reply
	for _, q := range in.Questions {
		if q.Open || q.MultiSelect || len(q.Options) == 0 {
			return agent.Answer{Decision: agent.Deny, Feedback: "The editor cannot show this question. Ask it in your answer, and end the turn."}, true
		}
		var options []acp.PermissionOption
		for i, option := range q.Options {
			options = append(options, acp.PermissionOption{OptionId: acp.PermissionOptionId(fmt.Sprint(choice, i)), Name: option.Label, Kind: acp.PermissionOptionKindAllowOnce})
		}
		options = append(options, acp.PermissionOption{OptionId: deny, Name: "Do not answer", Kind: acp.PermissionOptionKindRejectOnce})
		chosen := o.permission(ctx, r, options, []acp.ToolCallContent{acp.ToolContent(acp.TextBlock(described(q)))})
		if chosen == "" {
			return agent.Answer{}, false
		}
		at := -1
		if _, err := fmt.Sscanf(chosen, choice+"%d", &at); err != nil || at < 0 || at >= len(q.Options) {
			return agent.Answer{Decision: agent.Deny}, true
		}
		reply.Answers = append(reply.Answers, ask.Answer{Chosen: []string{q.Options[at].Label}})
	}
	return replied(reply), true
}

func described(q ask.Question) string {
	var b strings.Builder
	b.WriteString(q.Question)
	for _, option := range q.Options {
		if option.Description != "" {
			fmt.Fprintf(&b, "\n- %s: %s", option.Label, option.Description)
		}
	}
	return b.String()
}

func replied(reply ask.Reply) agent.Answer {
	raw, err := json.Marshal(reply)
	if err != nil {
		return agent.Answer{Decision: agent.Deny}
	}
	return agent.Answer{Decision: agent.Allow, Reply: string(raw)}
}

// form asks all questions at once.
func (o *session) form(ctx context.Context, questions []ask.Question) (agent.Answer, bool) {
	fields := map[string]any{}
	var message strings.Builder
	for i, q := range questions {
		fmt.Fprintf(&message, "%s\n", described(q))
		field := map[string]any{"type": "string", "title": q.Header, "description": q.Question}
		var labels []string
		for _, option := range q.Options {
			labels = append(labels, option.Label)
		}
		switch {
		case q.MultiSelect && len(labels) > 0:
			field["type"], field["items"] = "array", map[string]any{"type": "string", "enum": labels}
		case len(labels) > 0:
			field["enum"] = labels
		}
		fields[fmt.Sprint("q", i+1)] = field
	}
	reply, err := o.server.conn.UnstableCreateElicitation(ctx, acp.UnstableCreateElicitationRequest{Form: &acp.UnstableCreateElicitationForm{
		Mode: "form", Message: strings.TrimSpace(message.String()),
		RequestedSchema: acp.UnstableElicitationSchema{Type: "object", Properties: fields},
	}})
	switch {
	case err != nil && ctx.Err() == nil:
		return agent.Answer{Decision: agent.Deny, Feedback: "The question did not reach the user."}, true
	case err != nil:
		return agent.Answer{}, false
	case reply.Accept == nil:
		return agent.Answer{Decision: agent.Deny}, true
	}
	return replied(read(questions, reply.Accept.Content)), true
}

// read returns the answers of a form.
func read(questions []ask.Question, content map[string]any) (reply ask.Reply) {
	for i, q := range questions {
		var given ask.Answer
		add := func(v any) {
			said, _ := v.(string)
			known := false
			for _, option := range q.Options {
				known = known || option.Label == said
			}
			switch {
			case known:
				given.Chosen = append(given.Chosen, said)
			case said != "":
				given.Text = said
			}
		}
		switch v := content[fmt.Sprint("q", i+1)].(type) {
		case []any:
			for _, one := range v {
				add(one)
			}
		default:
			add(v)
		}
		reply.Answers = append(reply.Answers, given)
	}
	return reply
}
