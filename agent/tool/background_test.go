package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
)

func TestBashRunsInTheBackground(t *testing.T) { // OAS-306, OAS-316, OAS-317
	t.Parallel()
	b := newBench(t, nil)
	began := b.succeed("Bash", args{"command": "echo first; sleep 300", "run_in_background": true})
	if want := "[The command is running in the background, as task 1.]"; !strings.HasSuffix(began.Output, want) || began.Details.Command.Task != "1" {
		t.Errorf("result %+v, want %q", began, want)
	}
	short := b.succeed("Bash", args{"command": "echo over; exit 3", "run_in_background": true}) // which may print before it returns
	if got := b.succeed("TaskOutput", args{"id": "2", "wait_ms": 60_000}); strings.Count(short.Output+got.Output, "over\n") != 1 ||
		!strings.HasSuffix(got.Output, "[Task 2 ended with exit code 3.]") || got.Details.Command.ExitCode != 3 {
		t.Errorf("TaskOutput: %+v", got)
	}
	if got := b.succeed("TaskOutput", args{"id": "2"}); got.Output != "[Task 2 ended with exit code 3.]" {
		t.Errorf("TaskOutput again: %q", got.Output)
	}
	got := b.succeed("TaskOutput", args{"id": "1", "wait_ms": 1000})
	if seen := began.Output + got.Output; !strings.Contains(seen, "first\n") || !strings.HasSuffix(seen, "[Task 1 is running.]") {
		t.Errorf("TaskOutput of a running task: %q", seen)
	}
	b.refuse("TaskOutput", args{"id": "9"}, `there is no task "9"; the tasks are: 1 (echo first; sleep 300), running; 2 (echo over; exit 3), ended.`)
	if got := b.succeed("TaskStop", args{"id": "1", "reason": "done"}); got.Output != "[Task 1 was stopped.]" {
		t.Errorf("TaskStop: %q", got.Output)
	}
	b.refuse("WriteStdin", args{"id": "1", "chars": "x"}, "nothing was typed to task 1: the command has ended")
	newBench(t, nil).refuse("TaskStop", args{"id": "1"}, "no command was left running in this session")
}

func TestBashYields(t *testing.T) { // LOOP-26
	t.Parallel()
	b := newBench(t, nil)
	quick := b.succeed("Bash", args{"command": "echo quick; exit 2", "yield_time_ms": 60_000})
	if quick.Output != "quick\n[Exit code 2]" || quick.Details.Command.Task != "" {
		t.Errorf("a quick command: %+v", quick)
	}
	streamed := ""
	slow := b.runContext(t.Context(), "Bash", args{"command": `echo ready; while read -r line; do echo "got $line"; done; echo end`, "yield_time_ms": 1000, "input": true},
		func(text string) { streamed += text })
	if slow.Output != "ready\n[The command is still running, as task 2.]" || slow.Details.Command.Task != "2" || streamed != "ready\n" {
		t.Errorf("a slow command: %+v, streamed %q", slow, streamed)
	}
	if got := b.succeed("WriteStdin", args{"id": "2", "chars": "a\nb\n", "yield_time_ms": 1000}); got.Output != "got a\ngot b\n[Task 2 is running.]" {
		t.Errorf("WriteStdin: %q", got.Output)
	}
	if got := b.succeed("WriteStdin", args{"id": "2", "chars": "\x04", "yield_time_ms": 60_000}); got.Output != "end\n[Task 2 ended with exit code 0.]" {
		t.Errorf("WriteStdin at the end: %q", got.Output)
	}
	deaf := b.succeed("Bash", args{"command": "sleep 300", "yield_time_ms": 10})
	b.refuse("WriteStdin", args{"id": deaf.Details.Command.Task, "chars": "x"}, "the command takes no input")
	if got := b.succeed("WriteStdin", args{"id": deaf.Details.Command.Task, "chars": "\x03", "yield_time_ms": 60_000}); !strings.HasSuffix(got.Output, "ended with exit code 130.]") {
		t.Errorf("Ctrl-C: %q", got.Output)
	}
	timed := b.succeed("Bash", args{"command": "sleep 300", "run_in_background": true, "timeout": 100})
	if got := b.succeed("TaskOutput", args{"id": timed.Details.Command.Task, "wait_ms": 60_000}); !strings.HasSuffix(got.Output, "was ended after its time limit of 100 ms.]") || !got.Details.Command.TimedOut {
		t.Errorf("a task with a time limit: %+v", got)
	}
}

// LOOP-26: a model can write to a task on a terminal, and reads text.
func TestBashOnATerminal(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	if got := b.succeed("Bash", args{"command": `test -t 1 && printf '\033[31mred\033[0m\n'; echo $TERM`, "tty": true}); got.Output != "red\nxterm\n" {
		t.Errorf("printed %q", got.Output)
	}
	shell := b.succeed("Bash", args{"command": "PS1='> ' exec bash --norc -i", "tty": true, "yield_time_ms": 1000, "max_output_tokens": 7})
	if d := shell.Data.(Progress); !d.Running || d.Stdout != "> " || d.Took < time.Second || d.MaxOutputTokens != 7 {
		t.Errorf("began as %+v", d)
	}
	id := shell.Details.Command.Task
	typed := b.succeed("WriteStdin", args{"id": id, "chars": "X=42; sleep 300\n", "yield_time_ms": 1000, "max_output_tokens": 8})
	if d := typed.Data.(Progress); d.Stdout != "X=42; sleep 300\n" || d.MaxOutputTokens != 8 || d.Took < time.Second {
		t.Errorf("typed: %+v", d)
	}
	if got := b.succeed("WriteStdin", args{"id": id, "chars": "\x03", "yield_time_ms": 1000}); !strings.Contains(got.Output, "^C\n> ") {
		t.Errorf("Ctrl-C: %q", got.Output)
	}
	long := ": " + strings.Repeat("long ", 28)
	if got := b.succeed("WriteStdin", args{"id": id, "chars": long + "\n", "yield_time_ms": 1000}); !strings.Contains(got.Output, long) {
		t.Errorf("a long line: %q", got.Output)
	}
	got := b.succeed("WriteStdin", args{"id": id, "chars": "exit $((X+1))\n", "yield_time_ms": 60_000})
	if d := got.Data.(Progress); d.Running || d.ExitCode != 43 || len(d.Remarks) != 0 || !strings.Contains(got.Output, "ended with exit code 43.]") {
		t.Errorf("the end: %q, %+v", got.Output, d)
	}
}

func TestTasksAreListed(t *testing.T) { // OAS-315
	t.Parallel()
	b := newBench(t, nil)
	if got := b.succeed("TaskList", nil); !strings.HasPrefix(got.Output, "No command") {
		t.Errorf("none: %q", got.Output)
	}
	b.succeed("Bash", args{"command": "sleep 300", "run_in_background": true})
	const waits = "until [ -e go ]; do sleep 0.01; done; seq 5; exit 1" // so that it prints nothing before Bash returns
	b.succeed("Bash", args{"command": waits, "run_in_background": true})
	b.put("go", "")
	if got := b.succeed("TaskOutput", args{"id": "2", "wait_ms": 60_000, "lines": 2}); got.Output != "[3 lines before this.]\n4\n5\n[Task 2 ended with exit code 1.]" {
		t.Errorf("the last lines: %q", got.Output)
	}
	const running, ended = "1 (sleep 300), running", "2 (" + waits + "), ended"
	for status, want := range map[string]string{"": running + "\n" + ended, "running": running, "ended": ended} {
		if got := b.succeed("TaskList", args{"status": status}); got.Output != want {
			t.Errorf("%q: %q", status, got.Output)
		}
	}
	b.refuse("TaskList", args{"status": "lost"}, `There is no status "lost"`)
}

func TestInterruptStopsACommandThatHasNotYielded(t *testing.T) { // K-09
	t.Parallel()
	b := newBench(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := b.runContext(ctx, "Bash", args{"command": "echo first; sleep 300", "yield_time_ms": 60_000}, func(string) { cancel() })
	if got.Output != "first\n[The user interrupted the command. Partial output is shown above.]" || !got.IsError {
		t.Errorf("result %+v", got)
	}
	b.refuse("TaskOutput", args{"id": "1"}, "no command was left running")
}

// still is an environment whose commands do nothing until they are stopped.
type still struct {
	env.Environment
	commands []env.Command
}

type stillProcess struct {
	stop  sync.Once
	ended chan struct{}
}

func (s *still) Platform() string { return "linux" }

func (s *still) Exec(_ context.Context, c env.Command) (env.CommandResult, error) {
	s.commands = append(s.commands, c)
	return env.CommandResult{}, nil
}

func (s *still) Start(_ context.Context, c env.Command) (env.Process, error) {
	s.commands = append(s.commands, c)
	return &stillProcess{ended: make(chan struct{})}, nil
}

func (p *stillProcess) Read() string       { return "" }
func (p *stillProcess) Write(string) error { return errors.New("not listening") }
func (p *stillProcess) Stop()              { p.stop.Do(func() { close(p.ended) }) }
func (p *stillProcess) Wait(ctx context.Context) (env.CommandResult, error) {
	select {
	case <-p.ended:
	case <-ctx.Done():
		select {
		case <-p.ended:
		default:
			return env.CommandResult{}, ctx.Err()
		}
	}
	return env.CommandResult{Interrupted: true}, nil
}

func newStill(o Options) (*still, func(context.Context, string, string) agent.Result) {
	s := &still{}
	tools := map[string]agent.Tool{}
	for _, tool := range Builtin(s, o) {
		tools[tool.Spec().Name] = tool
	}
	return s, func(ctx context.Context, tool, input string) agent.Result {
		return tools[tool].Run(ctx, agent.Invocation{Input: []byte(input), Output: func(string) {}})
	}
}

func TestWaitsAreBounded(t *testing.T) { // LOOP-26
	t.Parallel()
	for call, want := range map[[2]string]time.Duration{
		{"Bash", `{"command": "x", "run_in_background": true}`}:       0,
		{"Bash", `{"command": "x", "yield_time_ms": 700}`}:            700 * time.Millisecond,
		{"Bash", `{"command": "x", "yield_time_ms": 9000000}`}:        10 * time.Minute,
		{"TaskOutput", `{"id": "1"}`}:                                 0,
		{"TaskOutput", `{"id": "1", "wait_ms": 2000}`}:                2 * time.Second,
		{"TaskOutput", `{"id": "1", "wait_ms": 9000000000000000000}`}: 10 * time.Minute,
		{"WriteStdin", `{"id": "1"}`}:                                 5 * time.Second,
		{"WriteStdin", `{"id": "1", "yield_time_ms": 300000}`}:        5 * time.Minute,
		{"TaskStop", `{"id": "1"}`}:                                   0,
	} {
		synctest.Test(t, func(t *testing.T) {
			_, run := newStill(Options{})
			run(t.Context(), "Bash", `{"command": "x", "run_in_background": true}`)
			begin := time.Now()
			if got := run(t.Context(), call[0], call[1]); got.IsError {
				t.Errorf("%v: %s", call, got.Output)
			}
			if took := time.Since(begin); took != want {
				t.Errorf("%v took %v, want %v", call, took, want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		_, run := newStill(Options{})
		run(t.Context(), "Bash", `{"command": "x", "run_in_background": true}`)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if got := run(ctx, "TaskOutput", `{"id": "1", "wait_ms": 60000}`); !got.IsError || got.Output != "[The user ended the wait. Task 1 is running.]" {
			t.Errorf("an ended wait: %+v", got)
		}
	})
}

func TestDefaultTimeouts(t *testing.T) { // LOOP-121, LOOP-122, LOOP-187, K-01, K-44
	t.Parallel()
	for input, want := range map[string][2]time.Duration{ // without and with a setting of a minute
		`{"command": "sleep 30"}`:                                      {2 * time.Minute, time.Minute},
		`{"command": "sleep 30", "timeout": 5000}`:                     {5 * time.Second, 5 * time.Second},
		`{"command": "sleep 30", "timeout": 5000, "yield_time_ms": 1}`: {5 * time.Second, 5 * time.Second},
		`{"command": "sleep 30", "run_in_background": true}`:           {0, 0},
		`{"command": "sleep 30", "timeout": 6000000}`:                  {10 * time.Minute, 10 * time.Minute},
	} {
		for i, o := range []Options{{}, {CommandTimeout: time.Minute}} {
			s, run := newStill(o)
			run(t.Context(), "Bash", input)
			if got := s.commands[0].Timeout; got != want[i] {
				t.Errorf("%s with %+v: timeout %v, want %v", input, o, got, want[i])
			}
		}
	}
	for timeout, want := range map[time.Duration]string{
		10 * time.Second: "take 10 seconds;", time.Second: "take 1 second;", 90 * time.Second: "take 90 seconds;",
		2 * time.Minute: "take 2 minutes;", 150 * time.Second: "take 150 seconds;", 1500 * time.Millisecond: "take 1500 milliseconds;",
	} {
		if got := newBash(&still{}, Options{CommandTimeout: timeout}, NewMemory("", nil)).Spec().Description; !strings.Contains(got, want) {
			t.Errorf("with %v the description lacks %q", timeout, want)
		}
	}
}

func TestTasksAreBounded(t *testing.T) {
	t.Parallel()
	ts, s := &Tasks{}, &still{}
	start := func() (*task, error) { return ts.start(t.Context(), s, env.Command{Line: "x"}, false) }
	for range maxTasks {
		if _, err := start(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := start(); err == nil || err.Error() != "64 tasks are running already; stop one first" {
		t.Errorf("one too many: %v", err)
	}
	ts.list[5].process.Stop()
	added, err := start()
	if err != nil || added.id != "65" || len(ts.list) != maxTasks {
		t.Errorf("after one has ended: %+v, %v", added, err)
	}
	if _, err := ts.find("6"); err == nil {
		t.Error("the ended task is remembered beyond the limit")
	}
}

func TestAccessOfTasks(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for input, want := range map[string]agent.Access{
		`{"id": "1"}`:                       {Own: true},
		`{"id": "1", "chars": "\u0003"}`:    {Own: true},
		`{"id": "1", "chars": "\u0004"}`:    {Own: true},
		`{"id": "1", "chars": "rm -r x\n"}`: {Command: "rm -r x\n", Task: "1"},
	} {
		if diff := cmp.Diff(want, b.tools["WriteStdin"].(agent.Accessor).Access(t.Context(), []byte(input))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", input, diff)
		}
	}
	if !b.tools["TaskOutput"].Spec().ReadOnly || !b.tools["TaskStop"].(agent.Accessor).Access(t.Context(), []byte(`{"id": "1"}`)).Own {
		t.Error("looking at a task, or ending it, asks for consent")
	}
}

func TestBashNamesTheFileOfTheWholeOutput(t *testing.T) { // R-OUT
	t.Parallel()
	for spill, want := range map[env.Spill]string{
		{Path: "/x"}:            "[The whole output is in /x.]",
		{Path: "/x", Cut: true}: "[The output was too long to be kept whole. Its beginning is in /x.]",
	} {
		if got := remarks(env.CommandResult{Stdout: "x", Spill: spill}, 0); fmt.Sprint(got) != "["+want+"]" {
			t.Errorf("%+v: %q", spill, got)
		}
	}
}
