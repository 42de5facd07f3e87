package todo

import (
	"cmp"
	"fmt"
	"strings"

	"atelier.dev/atelier/agent"
)

// wide is everything that models send: the whole list under the names of all vendors,
// or one action.
type wide struct {
	Todos       []wideTask `json:"todos,omitempty"`
	Plan        []wideTask `json:"plan,omitempty"`
	Explanation string     `json:"explanation,omitempty"`
	Action      string     `json:"action,omitempty"`
	Text        string     `json:"text,omitempty"`
	Content     string     `json:"content,omitempty"`
	ID          string     `json:"id,omitempty"`
	Priority    string     `json:"priority,omitempty"`
}

type wideTask struct {
	ID          string `json:"id,omitempty"`
	Content     string `json:"content,omitempty"`
	Step        string `json:"step,omitempty"`
	Description string `json:"description,omitempty"`
	Text        string `json:"text,omitempty"`
	ActiveForm  string `json:"activeForm,omitempty"`
	Status      string `json:"status,omitempty"`
	Priority    string `json:"priority,omitempty"`
	Done        bool   `json:"done,omitempty"`
}

// own converts what a model sent.
func (w wide) own() (Input, error) {
	in := Input{Action: strings.ToLower(w.Action), Text: cmp.Or(w.Text, w.Content), ID: w.ID, Priority: strings.ToLower(w.Priority)}
	if in.Action != "" {
		return in, nil
	}
	if w.Todos == nil && w.Plan == nil {
		return in, fmt.Errorf("they have neither a list (todos) nor an action")
	}
	for _, t := range append(w.Todos, w.Plan...) {
		in.Todos = append(in.Todos, Task{
			Content: cmp.Or(t.Content, t.Step, t.Description, t.Text), Active: t.ActiveForm,
			Status: statusOf(t), Priority: strings.ToLower(t.Priority),
		})
	}
	return in, nil
}

// statusOf reads a status as any model writes it.
func statusOf(t wideTask) Status {
	switch s := strings.ReplaceAll(strings.ToLower(t.Status), "-", "_"); s {
	case "":
		if t.Done {
			return Completed
		}
		return Pending
	case "done", "complete", "finished":
		return Completed
	case "todo", "open", "blocked", "not_started":
		return Pending
	case "inprogress", "in progress", "active", "doing":
		return InProgress
	case "canceled", "skipped":
		return Cancelled
	default:
		return Status(s)
	}
}

type shown struct {
	Todos []shownTask `json:"todos" jsonschema:"the whole list, in order"`
}

type shownTask struct {
	Content    string `json:"content" jsonschema:"what is to be done"`
	Status     string `json:"status" jsonschema:"pending, in_progress or completed"`
	ActiveForm string `json:"activeForm" jsonschema:"what is being done, while it is in progress"`
}

type openaiShown struct {
	Explanation string       `json:"explanation,omitempty" jsonschema:"why the list changed"`
	Plan        []openaiTask `json:"plan" jsonschema:"the whole list, in order"`
}

type openaiTask struct {
	Step   string `json:"step" jsonschema:"what is to be done"`
	Status string `json:"status" jsonschema:"pending, in_progress or completed"`
}

type geminiShown struct {
	Todos []geminiTask `json:"todos" jsonschema:"the whole list, in order"`
}

type geminiTask struct {
	Description string `json:"description" jsonschema:"what is to be done"`
	Status      string `json:"status" jsonschema:"pending, in_progress, completed or cancelled"`
}

func bindings() map[string][]agent.Binding {
	reads := agent.Understand[struct{}](Name, "TodoRead", func(struct{}) (Input, error) { return Input{Action: "list"}, nil })
	claude := agent.Understand[shown](Name, Name, wide.own)
	claude.Aliases = []string{"todo_write"}
	return map[string][]agent.Binding{
		"anthropic": {claude},
		"openai":    {agent.Understand[openaiShown](Name, "update_plan", wide.own)},
		"gemini":    {agent.Understand[geminiShown](Name, "write_todos", wide.own)},
		"spec":      {agent.Understand[shown](Name, "todo_write", wide.own)},
		"":          {reads},
	}
}
