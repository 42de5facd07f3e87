package tool

import (
	"context"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
)

// outliving is a bench whose commands go on when their time is over.
func outliving(t *testing.T, e env.Environment) (*bench, *Tasks) {
	t.Helper()
	b, tasks := &bench{t: t, dir: e.WorkingDirectory(), tools: map[string]agent.Tool{}}, &Tasks{}
	for _, tool := range Builtin(e, Options{Outlive: true, Tasks: tasks}) {
		b.tools[tool.Spec().Name] = tool
	}
	t.Cleanup(func() { _ = e.Cleanup(context.WithoutCancel(t.Context())) })
	return b, tasks
}

// OAS-306, LOOP-41: a command that outlives its time limit goes on as a task, loses no output and
// says how to follow it.
func TestACommandOutlivesItsLimit(t *testing.T) {
	t.Parallel()
	local, err := env.NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, tasks := outliving(t, local)
	streamed := ""
	got := b.runContext(t.Context(), "Bash", args{"command": "echo before; until [ -e go ]; do sleep 0.01; done; echo after; exit 4", "timeout": 500},
		func(text string) { streamed += text })
	want := "before\n[The command did not end within its time limit of 500 ms and now runs on in the background, as task 1. " +
		"TaskOutput reads what it prints and waits for its end, TaskStop ends it.]"
	if c := got.Details.Command; got.Output != want || got.IsError || c.Task != "1" || !c.TimedOut || streamed != "before\n" {
		t.Errorf("result %+v, command %+v, streamed %q", got, c, streamed)
	}
	if list := tasks.List(); len(list) != 1 || !list[0].Ended.IsZero() {
		t.Errorf("listed %+v", list)
	}
	b.put("go", "")
	if got := b.succeed("TaskOutput", args{"id": "1", "wait_ms": 60_000}); got.Output != "after\n[Task 1 ended with exit code 4.]" {
		t.Errorf("read on: %q", got.Output)
	}
	for name, tt := range map[string]struct {
		in   args
		want string
	}{
		"in time":      {args{"command": "echo x", "timeout": 60_000}, "x\n"},
		"exit code":    {args{"command": "echo x; exit 3"}, "x\n[Exit code 3]"},
		"nothing":      {args{"command": "true"}, "[The command succeeded and printed nothing.]"},
		"clamped":      {args{"command": "echo x", "timeout": 9_000_000}, "x\n[The timeout was set to 600000 ms, the longest allowed.]"},
		"named limit":  {args{"command": "echo x; exec sleep 300", "timeout": 100, "yield_time_ms": 60_000}, "timed out after 100ms"},
		"long output":  {args{"command": "yes | head -c 600000; echo END"}, "y\ny\ny"},
		"only a wait":  {args{"command": "sleep 300", "timeout": 500}, "timed out after 500ms"},
		"stopped soon": {args{"command": "exec sleep 300", "timeout": 500}, "runs on in the background"},
	} {
		if got := b.run("Bash", tt.in); !strings.Contains(got.Output, tt.want) {
			t.Errorf("%s: %.300q", name, got.Output)
		}
	}
	if got := b.succeed("Bash", args{"command": "yes | head -c 600000; echo END"}); len(got.Output) != 600_004 {
		t.Errorf("of 600,004 bytes of output %d were kept", len(got.Output))
	}
	b.refuse("Bash", args{"command": "pwd", "workdir": "none"}, "the command did not run")
	if list := tasks.List(); len(list) != 2 { // what ended within its call is no task
		t.Errorf("listed %+v", list)
	}
}

// A command that its caller gives up does not go on.
func TestAnInterruptedCommandDoesNotOutlive(t *testing.T) {
	t.Parallel()
	local, err := env.NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, tasks := outliving(t, local)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := b.runContext(ctx, "Bash", args{"command": "echo first; sleep 300"}, func(string) { cancel() })
	if !got.IsError || !strings.HasSuffix(got.Output, "[The user interrupted the command. Partial output is shown above.]") || len(tasks.List()) != 0 {
		t.Errorf("result %+v, tasks %+v", got, tasks.List())
	}
}

// bound is an environment none of whose commands may live on.
type bound struct{ env.Environment }

func (bound) MayOutlive(context.Context, env.Command) bool { return false }

// A command with more rights for its time is ended, and so is every one where nothing says
// that it may live on.
func TestACommandThatMayNotOutlive(t *testing.T) {
	t.Parallel()
	local, err := env.NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, tasks := outliving(t, bound{local})
	begin := time.Now()
	got := b.run("Bash", args{"command": "echo x; sleep 300", "timeout": 200})
	if !got.IsError || !strings.Contains(got.Output, "timed out after 200ms") || len(tasks.List()) != 0 || time.Since(begin) > time.Minute {
		t.Errorf("result %+v, tasks %+v", got, tasks.List())
	}
}
