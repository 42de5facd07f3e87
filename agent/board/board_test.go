package board_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/board"
)

var now = time.UnixMilli(1000)

// OAS-507, OAS-508, OAS-510: what is final stays, and a task belongs to whoever claimed it first.
func TestChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before  board.Task
		change  board.Change
		want    board.Task
		refused error
	}{
		"claimed":                 {board.Task{}, board.Change{By: "a", Status: board.InProgress}, board.Task{Status: board.InProgress, Owner: "a"}, nil},
		"pending to failed":       {board.Task{}, board.Change{Status: board.Failed}, board.Task{Status: board.Failed}, nil},
		"claimed by another":      {board.Task{Status: board.InProgress, Owner: "a"}, board.Change{By: "b", Status: board.InProgress}, board.Task{}, board.ErrTaken},
		"completed by another":    {board.Task{Status: board.InProgress, Owner: "a"}, board.Change{By: "b", Status: board.Completed}, board.Task{}, board.ErrTaken},
		"taken over by a name":    {board.Task{Status: board.InProgress, Owner: "a"}, board.Change{By: "b", Status: board.InProgress, Owner: "b"}, board.Task{}, board.ErrTaken},
		"ended by the session":    {board.Task{Status: board.InProgress, Owner: "a"}, board.Change{Status: board.Cancelled}, board.Task{Status: board.Cancelled, Owner: "a"}, nil},
		"completed by its owner":  {board.Task{Status: board.InProgress, Owner: "a"}, board.Change{By: "a", Status: board.Completed, Output: "x"}, board.Task{Status: board.Completed, Owner: "a", Output: "x"}, nil},
		"begun after its end":     {board.Task{Status: board.Completed}, board.Change{Status: board.InProgress}, board.Task{}, board.ErrFinal},
		"deleted after its end":   {board.Task{Status: board.Completed}, board.Change{Status: board.Deleted}, board.Task{Status: board.Deleted}, nil},
		"deleted by another":      {board.Task{Status: board.InProgress, Owner: "a"}, board.Change{By: "b", Status: board.Deleted}, board.Task{}, board.ErrTaken},
		"described after its end": {board.Task{Status: board.Failed}, board.Change{Output: "why"}, board.Task{Status: board.Failed, Output: "why"}, nil},
	} {
		var b board.Board
		c.before.Subject = "s"
		made, err := b.Create(c.before, now)
		if err != nil || made.ID != "task_1" {
			t.Fatal(made, err)
		}
		c.change.ID = made.ID
		got, err := b.Update(c.change, now)
		if !errors.Is(err, c.refused) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && (got.Status != c.want.Status || got.Owner != c.want.Owner || got.Output != c.want.Output) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// OAS-511: dependencies are declared on both sides, and never a cycle.
func TestDependencies(t *testing.T) {
	t.Parallel()
	var b board.Board
	for _, waits := range [][]string{nil, {"task_1"}, {"task_2"}} {
		if _, err := b.Create(board.Task{Subject: "s", BlockedBy: waits}, now); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []board.Change{{ID: "task_1", BlockedBy: []string{"task_3"}}, {ID: "task_3", Blocks: []string{"task_1"}}, {ID: "task_1", BlockedBy: []string{"task_1"}}} {
		if _, err := b.Update(c, now); !errors.Is(err, board.ErrCycle) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := b.Create(board.Task{Subject: "s", BlockedBy: []string{"task_1", "task_9"}}, now); !errors.Is(err, board.ErrNoTask) || len(b.Tasks) != 3 {
		t.Errorf("%v, %d tasks", err, len(b.Tasks))
	}
	if one, three := b.Find("task_1"), b.Find("task_3"); len(one.BlockedBy) != 0 || len(one.Blocks) != 1 || len(b.Open(*three)) != 1 {
		t.Errorf("%+v", b.Tasks)
	}
}

// OAS-509
func TestParseStatus(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]board.Status{"inProgress": board.InProgress, "in_progress": board.InProgress, "Completed": board.Completed, "deleted": board.Deleted, "gone": "", "": ""} {
		if got, err := board.ParseStatus(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// OAS-313, OAS-314, OAS-315, OAS-316, OAS-317, OAS-318: the tools of the seed, beside those for commands.
func TestTools(t *testing.T) {
	t.Parallel()
	commands := func(name string) agent.Tool {
		return agent.Function(agent.Spec{Name: name, Description: "d"}, func(context.Context, map[string]any) (string, error) { return "command", nil })
	}
	var store board.Memory
	calls := func(by string) func(tool, input string) agent.Result {
		tools := map[string]agent.Tool{}
		for _, x := range board.Tools(&store, by, []agent.Tool{commands("TaskList"), commands("TaskOutput"), commands("TaskStop")}) {
			tools[x.Spec().Name] = x
		}
		return func(tool, input string) agent.Result {
			return tools[tool].Run(t.Context(), agent.Invocation{Input: json.RawMessage(input)})
		}
	}
	main, rob, eve := calls(""), calls("rob"), calls("eve")
	for _, c := range []struct {
		got    agent.Result
		want   string
		failed bool
	}{
		{main("TaskList", `{}`), "command", false},
		{main("TaskCreate", `{"subject":"Fix it"}`), `"id":"task_1"`, false},
		{main("TaskCreate", `{"subject":"Then that","blocked_by":["task_1"]}`), `"blocked_by":["task_1"]`, false},
		{rob("TaskUpdate", `{"id":"task_1","status":"inProgress"}`), `"owner":"rob"`, false},
		{eve("TaskUpdate", `{"id":"task_1","status":"in_progress"}`), "rob", true},
		{eve("TaskUpdate", `{"id":"task_2","status":"in_progress"}`), "waits for tasks that are not completed: task_1", false},
		{main("TaskList", `{}`), "task_1 [in_progress] Fix it (rob)", false},
		{main("TaskGet", `{"id":"task_1"}`), `"subject":"Fix it"`, false},
		{main("TaskGet", `{"id":"task_9"}`), "no such task", true},
		{main("TaskOutput", `{"id":"3"}`), "command", false},
		{main("TaskStop", `{"id":"task_1","reason":"not needed"}`), `"status":"cancelled"`, false},
		{main("TaskOutput", `{"id":"task_1"}`), `"output":"not needed"`, false},
		{rob("TaskUpdate", `{"id":"task_1","status":"completed"}`), "final", true},
		{main("TaskList", `{"status":"inProgress"}`), "Tasks of the board:\ntask_2 [in_progress] Then that (eve), waits for task_1\n", false},
		{main("TaskList", `{"status":"cancelled","owner":"eve"}`), "No task is like that.", false},
		{main("TaskList", `{"owner":"rob"}`), "task_1 [cancelled] Fix it (rob)", false},
		{main("TaskList", `{"status":"running"}`), "command", false},
		{main("TaskUpdate", `{"id":"task_1","status":"deleted"}`), `"status":"deleted"`, false},
		{main("TaskGet", `{"id":"task_1"}`), "no such task", true},
		{main("TaskGet", `{"id":"task_2"}`), `"status":"in_progress","owner":"eve"`, false},
		{main("TaskCreate", `{"subject":"Third"}`), `"id":"task_3"`, false},
	} {
		if !strings.Contains(c.got.Output, c.want) || c.got.IsError != c.failed {
			t.Errorf("%q is not in %s", c.want, c.got.Output)
		}
	}
}
