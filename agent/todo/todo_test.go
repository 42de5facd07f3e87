package todo_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/todo"
)

type object = map[string]any

// call runs a call in the form of a binding, on what the tool keeps.
func call(t *testing.T, name string, in object, kept json.RawMessage) agent.Result {
	t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, bindings := range todo.Tool().Spec().Bindings {
		for _, b := range bindings {
			if b.Name != name {
				continue
			}
			own, err := b.Input(raw)
			if err == nil {
				err = todo.Tool().(agent.Validator).Validate(own)
			}
			if err != nil {
				return agent.Fail(err.Error())
			}
			return todo.Tool().Run(t.Context(), agent.Invocation{Input: own, Kept: kept})
		}
	}
	t.Fatalf("there is no binding %s", name)
	return agent.Result{}
}

// OAS-328: the list is kept from call to call, by actions as the Open Agent SDK has
// them, and by whole lists as Comate, Claude, Codex and Gemini write them.
func TestForms(t *testing.T) {
	t.Parallel()
	var kept json.RawMessage
	for i, step := range []struct {
		call string
		in   object
		want string
		line string
	}{
		{"TodoWrite", object{"action": "add", "text": "Look", "priority": "High"}, "[ ] 1. Look (high)\n", "Look"},
		{"TodoWrite", object{"action": "add", "text": "Build"}, "[ ] 1. Look (high)\n[ ] 2. Build\n", "Look"},
		{"TodoWrite", object{"action": "toggle", "id": "1"}, "[x] 1. Look (high)\n[ ] 2. Build\n", "Build"},
		{"TodoWrite", object{"action": "list"}, "[x] 1. Look (high)\n[ ] 2. Build\n", "Build"},
		{"TodoWrite", object{"action": "toggle", "id": "1"}, "[ ] 1. Look (high)\n[ ] 2. Build\n", "Look"},
		{"TodoWrite", object{"action": "remove", "id": "1"}, "[ ] 2. Build\n", "Build"},
		{"TodoWrite", object{"action": "add", "text": "Test"}, "[ ] 2. Build\n[ ] 3. Test\n", "Build"},
		{"update_plan", object{"plan": []any{object{"step": "Build", "status": "completed"}, object{"step": "Test", "status": "in_progress"}}}, "[x] 1. Build\n[>] 2. Test\n", "Test"},
		{"write_todos", object{"todos": []any{object{"description": "Build", "status": "cancelled"}, object{"description": "Test", "status": "blocked"}}}, "[-] 1. Build\n[ ] 2. Test\n", "Test"},
		{"TodoWrite", object{"todos": []any{object{"content": "Test", "status": "in_progress", "activeForm": "Testing"}}}, "[>] 1. Test\n", "Testing"},
		{"TodoRead", object{}, "[>] 1. Test\n", "Testing"},
		{"todo_write", object{"todos": []any{object{"content": "Test", "status": "done"}}}, "[x] 1. Test\n", ""},
		{"TodoWrite", object{"action": "clear"}, "The list is empty.", ""},
	} {
		got := call(t, step.call, step.in, kept)
		if got.IsError || got.Output != step.want || got.Details == nil {
			t.Fatalf("step %d: %q, want %q", i+1, got.Output, step.want)
		}
		kept = got.Details.Kept.State
		if line := got.Details.Kept.Line; line != step.line {
			t.Errorf("step %d: line %q, want %q", i+1, line, step.line)
		}
		if reminded := strings.Contains(got.Details.Kept.Text, step.want); reminded != (step.line != "") {
			t.Errorf("step %d: the model is reminded: %t", i+1, reminded)
		}
	}
}

// A call that cannot be meant changes nothing, and says what to do.
func TestBadCalls(t *testing.T) {
	t.Parallel()
	many := make([]any, 101)
	for i := range many {
		many[i] = object{"content": fmt.Sprint(i), "status": "pending"}
	}
	task := func(member string, value any) object {
		t := object{"content": "Look", "status": "pending"}
		t[member] = value
		return object{"todos": []any{t}}
	}
	for name, c := range map[string]struct {
		in   object
		want string
	}{
		"nothing":           {object{}, "neither a list"},
		"101 tasks":         {object{"todos": many}, "101 tasks"},
		"an empty task":     {task("content", " "), "task 1: its content is empty"},
		"a huge task":       {task("content", strings.Repeat("a", 10_000)), "10000 characters"},
		"two lines":         {task("content", "a\nb"), "U+000A"},
		"an escape":         {task("activeForm", "\x1b[0m"), "U+001B"},
		"a strange status":  {task("status", "paused"), `no status "paused"`},
		"a priority":        {task("priority", "urgent"), `no priority "urgent"`},
		"an action":         {object{"action": "swap"}, `no action "swap"`},
		"add nothing":       {object{"action": "add"}, "text is empty"},
		"toggle nothing":    {object{"action": "toggle"}, "takes the id"},
		"toggle a stranger": {object{"action": "toggle", "id": "7"}, `There is no task "7"`},
		"remove a stranger": {object{"action": "remove", "id": "x"}, `There is no task "x"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := call(t, "TodoWrite", c.in, nil); !got.IsError || !strings.Contains(got.Output, c.want) {
				t.Errorf("got %q, want %q in it", got.Output, c.want)
			}
		})
	}
}
