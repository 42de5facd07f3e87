// Package plan has the tools with which a model plans before it changes anything
// (OAS-329, OAS-330). The gate keeps plan mode; these tools lead into it and out of it, and
// only a person's answer changes the mode.
package plan

import (
	"cmp"
	"context"
	_ "embed" // for the descriptions
	"encoding/json"
	"fmt"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/plain"
)

//go:embed enter.md
var enterDescription string

//go:embed exit.md
var exitDescription string

// The canonical names.
const (
	Enter = "EnterPlanMode"
	Exit  = "ExitPlanMode"
)

// maxPlan is the length of a plan that a person still reads, in characters.
const maxPlan = 40_000

// Input is a plan that is presented.
type Input struct {
	Plan string `json:"plan" jsonschema:"the whole plan, in Markdown"`
}

// Validate says in a phrase for the model what is wrong with a plan.
func (in Input) Validate() error { return plain.Check("the plan", in.Plan, maxPlan, true) }

// Reply is what the user answers to a plan. Empty means that they approved it as it is.
type Reply struct {
	// Plan is the plan as the user edited it; empty if they did not.
	Plan string `json:"plan,omitempty"`
	// Comments are what they approved it with, for the model.
	Comments string `json:"comments,omitempty"`
}

// Document is an approved plan, which the tool keeps in the session.
type Document struct {
	Plan   string `json:"plan"`
	Edited bool   `json:"edited,omitempty"`
}

// proposal is what a model says when it proposes to plan first.
type proposal struct {
	Reason string `json:"reason,omitempty" jsonschema:"why planning first is worth it, in a sentence"`
}

// Validate says in a phrase for the model what is wrong with the reason.
func (p proposal) Validate() error { return plain.Check("the reason", p.Reason, 1_000, false) }

// own returns the proposal itself: every model sends it in this form.
func (p proposal) own() (proposal, error) { return p, nil }

// Tools returns both tools. Whoever runs the session changes the mode when the user
// answers ([agent.Answer]), and hands a [Reply] to the call.
func Tools() []agent.Tool {
	enter := agent.Spec{
		Name: Enter, Description: strings.TrimSpace(enterDescription), ReadOnly: true, Idempotent: true, Bindings: bindings[proposal](Enter, "enter_plan_mode", proposal.own),
		Question: &agent.Question{
			Reason: agent.ReasonPlanFirst, Unless: agent.ModePlan,
			Declined: "The user wants no separate plan. Go on with the task itself.",
			Unheard:  "Nobody can be asked here, so the mode stays as it is. If a plan is wanted, give it as your answer; otherwise go on with the task.",
		},
	}
	exit := agent.Spec{
		Name: Exit, Description: strings.TrimSpace(exitDescription), ReadOnly: true, Bindings: bindings[Input](Exit, "exit_plan_mode", wide.own),
		Question: &agent.Question{
			Reason:   agent.ReasonPlanReady,
			Declined: "The user sent the plan back. Nothing may be changed yet: rework the plan and present it again.",
			Unheard:  "Nobody can approve a plan here. Give it as your answer, and end the turn with it.",
		},
	}
	return []agent.Tool{agent.Function(enter, entered), agent.Function(exit, agent.Depends(agent.ThisCall, approved))}
}

func entered(context.Context, proposal) (string, error) {
	return "You are in plan mode now. Look around and change nothing until you know what has to be done, then present the plan.", nil
}

func approved(_ context.Context, in Input, call agent.Invocation) (agent.Result, error) {
	var reply Reply
	if err := json.Unmarshal([]byte(cmp.Or(call.Reply, "{}")), &reply); err != nil {
		return agent.Result{}, fmt.Errorf("the user's answer cannot be read: %w", err)
	}
	doc := Document{Plan: cmp.Or(strings.TrimSpace(reply.Plan), in.Plan)}
	doc.Edited = strings.TrimSpace(in.Plan) != strings.TrimSpace(doc.Plan)
	state, err := json.Marshal(doc)
	if err != nil {
		return agent.Result{}, err
	}
	text := "The user approved the plan. Carry it out now."
	if doc.Edited {
		text = "The user edited the plan and approved it. Their version:\n\n" + doc.Plan + "\n\nCarry it out now."
	}
	if said := strings.TrimSpace(reply.Comments); said != "" {
		text += " They said: " + said
	}
	return agent.Result{Output: text, Details: &agent.Details{Kept: &agent.KeptState{
		State: state, Text: "The plan that the user approved:\n\n" + doc.Plan,
	}}}, nil
}

// wide is a plan as any model sends it.
type wide struct {
	Plan           string `json:"plan,omitempty"`
	PlanText       string `json:"plan_text,omitempty"`
	Markdown       string `json:"markdown,omitempty"`
	PlanFilename   string `json:"plan_filename,omitempty"`
	Approved       any    `json:"approved,omitempty"`
	AllowedPrompts any    `json:"allowedPrompts,omitempty"`
}

// own reads a plan. That a model calls its own plan approved counts for nothing.
func (w wide) own() (Input, error) {
	in := Input{cmp.Or(w.Plan, w.PlanText, w.Markdown)}
	if in.Plan == "" && w.PlanFilename != "" {
		return in, fmt.Errorf("plan has to have the text of the plan itself, not the name of a file")
	}
	return in, nil
}

// bindings returns the bindings of a tool, which Claude knows by its canonical name and
// other models in snake_case.
func bindings[Shown, Wide, Own any](tool, snake string, as func(Wide) (Own, error)) map[string][]agent.Binding {
	others := []agent.Binding{agent.Understand[Shown](tool, snake, as)}
	return map[string][]agent.Binding{
		"anthropic": {agent.Understand[Shown](tool, tool, as)}, "openai": others, "gemini": others, "spec": others,
	}
}
