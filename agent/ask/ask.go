// Package ask has the tool with which a model asks its user (OAS-307).
package ask

import (
	"cmp"
	"context"
	_ "embed" // for the description
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
)

//go:embed askuser.md
var description string

// Name is the tool's canonical name.
const Name = "AskUser"

// Input is what a model asks: one to four questions.
type Input struct {
	Questions []Question `json:"questions" jsonschema:"one to four questions"`
}

// Question is one question with its options.
type Question struct {
	Question string `json:"question" jsonschema:"the whole question, as a sentence"`
	Header   string `json:"header,omitempty" jsonschema:"a word or two that names the question"`
	// ID is a name that some models give the question, to find its answer again.
	ID          string   `json:"id,omitempty"`
	Options     []Option `json:"options,omitempty" jsonschema:"two to four options"`
	MultiSelect bool     `json:"multiSelect,omitempty" jsonschema:"several options may be chosen"`
	// Open asks for an answer in the user's own words: there are no options.
	Open bool `json:"open,omitempty"`
}

// Option is one answer to choose.
type Option struct {
	Label       string `json:"label" jsonschema:"the option, in one to five words"`
	Description string `json:"description,omitempty" jsonschema:"what choosing it leads to"`
	Preview     string `json:"preview,omitempty" jsonschema:"code or a sketch as plain text, shown beside the option"`
}

// Reply is what the user answered, in the order of the questions.
type Reply struct {
	Answers []Answer `json:"answers"`
}

// Answer is the answer to one question. Without anything in it, the user left the
// question out.
type Answer struct {
	// Chosen are labels of options.
	Chosen []string `json:"chosen,omitempty"`
	// Text is in the user's own words.
	Text string `json:"text,omitempty"`
}

// answered is the data of a result, for the bindings that write it.
type answered struct {
	questions []Question
	answers   []Answer
}

// Tool returns the tool. Whoever runs the session asks the user, and hands a [Reply]
// to the call as its answer.
func Tool() agent.Tool {
	return agent.Function(agent.Spec{
		Name: Name, Description: strings.TrimSpace(description), ReadOnly: true, Idempotent: true, Bindings: bindings(),
		Question: &agent.Question{
			Reason:   agent.ReasonQuestion,
			Declined: "The user did not answer the questions. Do not ask them again; go on with what you judge best and say what you assumed, or end the turn if nothing can be done without an answer.",
			Unheard:  "Nobody can be asked here. Decide yourself: take the option that is easiest to take back, go on, and say in your answer what you assumed and what the user may want to decide otherwise.",
		},
	}, agent.Depends(agent.ThisCall, run))
}

func run(_ context.Context, in Input, call agent.Invocation) (agent.Result, error) {
	var reply Reply
	if err := json.Unmarshal([]byte(cmp.Or(call.Reply, "{}")), &reply); err != nil {
		return agent.Result{}, fmt.Errorf("the user's answer cannot be read: %w", err)
	}
	answers := make([]Answer, len(in.Questions))
	copy(answers, reply.Answers)
	var b strings.Builder
	b.WriteString("The user answered.\n")
	for i, q := range in.Questions {
		fmt.Fprintf(&b, "\n%s\n", q.Question)
		said := answers[i].words()
		if len(said) == 0 {
			said = []string{"(no answer: decide yourself)"}
		}
		for _, line := range said {
			fmt.Fprintf(&b, "- %s\n", line)
		}
	}
	return agent.Result{Output: b.String(), Data: answered{in.Questions, answers}}, nil
}

// words are the parts of an answer.
func (a Answer) words() []string {
	words := slices.Clone(a.Chosen)
	if text := strings.TrimSpace(a.Text); text != "" {
		words = append(words, "in their own words: "+text)
	}
	return words
}
