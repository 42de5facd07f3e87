package ask

import (
	"encoding/json"
	"fmt"

	"atelier.dev/atelier/agent"
)

// wide is everything that models send: the members of all vendors, and the single
// question of the Open Agent SDK (OAS-307).
type wide struct {
	Questions   []any  `json:"questions,omitempty"`
	Question    string `json:"question,omitempty"`
	Header      string `json:"header,omitempty"`
	Options     []any  `json:"options,omitempty"`
	MultiSelect bool   `json:"multiSelect,omitempty"`
	Answers     any    `json:"answers,omitempty"`
	Annotations any    `json:"annotations,omitempty"`
	Metadata    any    `json:"metadata,omitempty"`
}

// asked is a question as any model writes it. Type is Gemini's: choice, text or yesno.
type asked struct {
	Question
	Options     []choice `json:"options"`
	Type        string   `json:"type"`
	MultiSelect bool     `json:"multiSelect"`
	MultiSnake  bool     `json:"multi_select"`
	Placeholder string   `json:"placeholder"`
}

// choice is an option that may be written as a plain text.
type choice Option

// UnmarshalJSON implements [json.Unmarshaler].
func (c *choice) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &c.Label) == nil {
		return nil
	}
	return json.Unmarshal(data, (*Option)(c))
}

// own converts what a model sent.
func (w wide) own() (Input, error) {
	questions := w.Questions
	if len(questions) == 0 && w.Question != "" {
		questions = []any{map[string]any{"question": w.Question, "header": w.Header, "options": w.Options, "multiSelect": w.MultiSelect}}
	}
	var in Input
	for i, each := range questions {
		raw, err := json.Marshal(each)
		if err != nil {
			return in, fmt.Errorf("question %d: %w", i+1, err)
		}
		var a asked
		if json.Unmarshal(raw, &a.Question.Question) != nil {
			if err := json.Unmarshal(raw, &a); err != nil {
				return in, fmt.Errorf("question %d cannot be read: it takes question, header, options and multiSelect, and an option takes label and description", i+1)
			}
		}
		in.Questions = append(in.Questions, a.own())
	}
	return in, nil
}

func (a asked) own() Question {
	q := a.Question
	q.MultiSelect = a.MultiSelect || a.MultiSnake
	for _, c := range a.Options {
		q.Options = append(q.Options, Option(c))
	}
	switch {
	case a.Type == "yesno" && len(q.Options) == 0:
		q.Options = []Option{{Label: "Yes"}, {Label: "No"}}
	case a.Type == "text":
		q.Open, q.Options = true, nil
	}
	return q
}

// shown is the form that most models are shown.
type shown struct {
	Questions []shownQuestion `json:"questions" jsonschema:"one to four questions"`
}

type shownQuestion struct {
	Question    string   `json:"question" jsonschema:"the whole question, as a sentence"`
	Header      string   `json:"header" jsonschema:"a word or two that names the question"`
	Options     []Option `json:"options" jsonschema:"two to four options"`
	MultiSelect bool     `json:"multiSelect,omitempty" jsonschema:"several options may be chosen"`
}

// geminiShown is the form that Gemini's models know.
type geminiShown struct {
	Questions []geminiQuestion `json:"questions" jsonschema:"one to four questions"`
}

type geminiQuestion struct {
	shownQuestion
	Type string `json:"type,omitempty" jsonschema:"choice if left out; text asks for the user's own words, without options; yesno for yes or no"`
}

// openaiShown is the form that OpenAI's models know.
type openaiShown struct {
	Questions []openaiQuestion `json:"questions" jsonschema:"one to four questions"`
}

type openaiQuestion struct {
	ID       string         `json:"id" jsonschema:"a name for the question in snake_case, under which its answer comes back"`
	Header   string         `json:"header" jsonschema:"a word or two that names the question"`
	Question string         `json:"question" jsonschema:"the whole question, as a sentence"`
	Options  []openaiOption `json:"options" jsonschema:"two to four options"`
}

type openaiOption struct {
	Label       string `json:"label" jsonschema:"the option, in one to five words"`
	Description string `json:"description" jsonschema:"what choosing it leads to"`
}

func bindings() map[string][]agent.Binding {
	openai := agent.Understand[openaiShown](Name, "request_user_input", wide.own)
	openai.Output = byID
	return map[string][]agent.Binding{
		"anthropic": {agent.Understand[shown](Name, "AskUserQuestion", wide.own)},
		"gemini":    {agent.Understand[geminiShown](Name, "ask_user", wide.own)},
		"openai":    {openai},
		"spec":      {agent.Understand[shown](Name, "ask_user", wide.own)},
		// What the Open Agent SDK calls it.
		"": {agent.Understand[shown](Name, Name, wide.own)},
	}
}

// byID writes the answers under the names that the model gave its questions.
func byID(r agent.Result, cut func(string) string) string {
	d, ok := r.Data.(answered)
	if !ok {
		return cut(r.Output)
	}
	type answer struct {
		Answers []string `json:"answers"`
	}
	all := map[string]answer{}
	for i, q := range d.questions {
		id := q.ID
		if _, taken := all[id]; taken || id == "" {
			id = fmt.Sprintf("question_%d", i+1)
		}
		all[id] = answer{append([]string{}, d.answers[i].words()...)}
	}
	return cut(agent.ResultOf(map[string]any{"answers": all}).Output)
}
