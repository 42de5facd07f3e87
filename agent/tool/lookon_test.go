package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
)

// onlooker is a host that watches the tasks of a session whose commands are
// real processes.
type onlooker struct {
	t       *testing.T
	tasks   *Tasks
	tools   map[string]agent.Tool
	changes chan agent.TaskChange
}

func newOnlooker(t *testing.T) *onlooker {
	t.Helper()
	local, err := env.NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := &onlooker{t: t, tools: map[string]agent.Tool{}, changes: make(chan agent.TaskChange, 1000)}
	o.tasks = NewTasks(func(c agent.TaskChange) { o.changes <- c })
	for _, tool := range Builtin(local, Options{Tasks: o.tasks}) {
		o.tools[tool.Spec().Name] = tool
	}
	t.Cleanup(func() {
		if err := local.Cleanup(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return o
}

func (o *onlooker) run(tool string, in args) agent.Result {
	o.t.Helper()
	b, err := json.Marshal(in)
	if err != nil {
		o.t.Fatal(err)
	}
	return o.tools[tool].Run(o.t.Context(), agent.Invocation{Input: b, Output: func(string) {}})
}

// start starts a command that keeps running, waits until the host is told of
// it, and returns the output that the model was already shown.
func (o *onlooker) start(line string) string {
	o.t.Helper()
	r := o.run("Bash", args{"command": line, "run_in_background": true})
	if r.IsError {
		o.t.Fatal(r.Output)
	}
	o.await(func(c agent.TaskChange) bool { return !c.Printed })
	printed, _, _ := strings.Cut(r.Output, "[")
	return printed
}

func (o *onlooker) await(fits func(agent.TaskChange) bool) {
	o.t.Helper()
	for {
		select {
		case c := <-o.changes:
			if fits(c) {
				return
			}
		case <-o.t.Context().Done():
			o.t.Fatal("the host was not told")
		}
	}
}

// read follows a task until its output contains a text.
func (o *onlooker) read(id, text string) string {
	o.t.Helper()
	var seen strings.Builder
	for place := int64(0); ; {
		piece, err := o.tasks.Output(id, place, printedLimit)
		if err != nil {
			o.t.Fatal(err)
		}
		place = piece.End
		seen.WriteString(piece.Text)
		if strings.Contains(seen.String(), text) {
			return seen.String()
		}
		o.await(func(c agent.TaskChange) bool { return c.Task == id && c.Printed })
	}
}

func TestALookTakesNothingFromTheModel(t *testing.T) { // OAS-316
	t.Parallel()
	o := newOnlooker(t)
	told := o.start("echo first; read -r; echo second; sleep 300")
	if got := o.read("1", "second\n"); got != "first\nsecond\n" {
		t.Errorf("the host read %q", got)
	}
	if got := told + o.run("TaskOutput", args{"id": "1"}).Output; got != "first\nsecond\n[Task 1 is running.]" {
		t.Errorf("the model read %q", got)
	}
	if again, err := o.tasks.Output("1", 6, 100); err != nil || again != (TaskText{Text: "second\n", Begin: 6, End: 13}) {
		t.Errorf("read again from the sixth byte: %+v, %v", again, err)
	}
	if _, err := o.tasks.Output("9", 0, 100); err == nil {
		t.Error("an unknown task was read")
	}
}

func TestHostsListTasks(t *testing.T) { // OAS-306
	t.Parallel()
	o := newOnlooker(t)
	quick := args{"command": "echo quick", "yield_time_ms": 60_000}
	r := o.tools["Bash"].Run(t.Context(), agent.Invocation{Input: quick.json(t), Output: func(string) {
		if got := o.tasks.List(); got != nil {
			t.Errorf("a command that its call still waits for is listed: %+v", got)
		}
	}})
	if got := o.tasks.List(); got != nil || r.IsError {
		t.Errorf("a foreground command is listed: %+v, %+v", got, r)
	}
	begin := time.Now()
	for _, line := range []string{"sleep 300", "exit 3"} {
		o.start(line)
	}
	o.await(func(c agent.TaskChange) bool { return c == agent.TaskChange{Task: "3"} })
	if r := o.run("Bash", args{"command": "sleep 300", "run_in_background": true, "timeout": 50, "workdir": "/"}); r.IsError {
		t.Fatal(r.Output)
	}
	for range 2 { // it begins and ends
		o.await(func(c agent.TaskChange) bool { return c == agent.TaskChange{Task: "4"} })
	}
	list := o.tasks.List()
	type state struct {
		ID, Line, Dir string
		Ended         bool
		ExitCode      int
		TimedOut      bool
	}
	var got []state
	for _, i := range list {
		got = append(got, state{i.ID, i.Line, i.Dir, !i.Ended.IsZero(), i.Result.ExitCode, i.Result.TimedOut})
		if i.Started.Before(begin) || !i.Ended.IsZero() && i.Ended.Before(i.Started) {
			t.Errorf("times of %+v", i)
		}
	}
	want := []state{
		{ID: "2", Line: "sleep 300"},
		{ID: "3", Line: "exit 3", Ended: true, ExitCode: 3},
		{ID: "4", Line: "sleep 300", Dir: "/", Ended: true, ExitCode: list[2].Result.ExitCode, TimedOut: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

func TestAHostStopsATask(t *testing.T) { // OAS-317
	t.Parallel()
	o := newOnlooker(t)
	o.start("sleep 300")
	stopped, err := o.tasks.Stop("1")
	if err != nil || stopped.Ended.IsZero() || !stopped.Result.Interrupted {
		t.Errorf("stopped: %+v, %v", stopped, err)
	}
	o.await(func(c agent.TaskChange) bool { return c == agent.TaskChange{Task: "1"} })
	if got := o.run("TaskOutput", args{"id": "1"}); got.Output != "[Task 1 was stopped.]" {
		t.Errorf("the model was told %q", got.Output)
	}
	o.start("exit 4")
	o.await(func(c agent.TaskChange) bool { return c == agent.TaskChange{Task: "2"} })
	if late, err := o.tasks.Stop("2"); err != nil || late.Result.Interrupted || late.Result.ExitCode != 4 {
		t.Errorf("stopped after its end: %+v, %v", late, err)
	}
	if _, err := o.tasks.Stop("9"); err == nil {
		t.Error("an unknown task was stopped")
	}
}

// A host is not flooded: all output between two reads is reported by one
// change.
func TestOutputIsReportedOncePerLook(t *testing.T) {
	t.Parallel()
	var changes []agent.TaskChange
	ts := NewTasks(func(c agent.TaskChange) { changes = append(changes, c) })
	noisy := &chatty{}
	if _, err := ts.start(t.Context(), noisy, env.Command{Line: "x"}, false); err != nil {
		t.Fatal(err)
	}
	noisy.print("a", "b")
	if len(changes) > 0 {
		t.Errorf("reported without a look: %+v", changes)
	}
	for range 2 {
		if _, err := ts.Output("1", 0, 10); err != nil {
			t.Fatal(err)
		}
		noisy.print("c", "d", "e")
	}
	if diff := cmp.Diff([]agent.TaskChange{{Task: "1", Printed: true}, {Task: "1", Printed: true}}, changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	ts.list[0].process.Stop()
}

// chatty is a command that prints on a test's request.
type chatty struct {
	still
}

func (c *chatty) print(texts ...string) {
	for _, text := range texts {
		c.commands[0].Output(text)
	}
}

func TestLooksAreBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		pieces []string
		place  int64
		limit  int
		want   TaskText
	}{
		{"nothing", nil, 0, 10, TaskText{}},
		{"all", []string{"ab", "cd"}, 0, 10, TaskText{"abcd", 0, 4}},
		{"from a place", []string{"ab", "cd"}, 3, 10, TaskText{"d", 3, 4}},
		{"from the end", []string{"ab"}, 2, 10, TaskText{"", 2, 2}},
		{"from beyond the end", []string{"ab"}, 9, 10, TaskText{"", 2, 2}},
		{"from before the beginning", []string{"ab"}, -9, 10, TaskText{"ab", 0, 2}},
		{"the newest", []string{"ab", "cd"}, 0, 3, TaskText{"bcd", 1, 4}},
		{"whole characters", []string{"你好"}, 0, 4, TaskText{"好", 3, 6}},
		{"no limit below nothing", []string{"ab"}, 0, -1, TaskText{"", 2, 2}},
	} {
		p := &printed{}
		for _, piece := range c.pieces {
			p.add(piece)
		}
		if got := p.from(c.place, c.limit); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestMuchOutputIsKeptInLittleMemory(t *testing.T) { // R-OUT
	t.Parallel()
	p := &printed{}
	var all strings.Builder
	for i := range 40_000 {
		piece := fmt.Sprintf("line %d 好\n", i)
		all.WriteString(piece)
		p.add(piece)
	}
	long := strings.Repeat("é", printedLimit)
	for _, piece := range []string{"", long} {
		all.WriteString(piece)
		p.add(piece)
		got := p.from(0, 1<<30)
		if !utf8.ValidString(got.Text) || len(got.Text) > printedLimit || len(got.Text) < printedLimit-utf8.UTFMax ||
			!strings.HasSuffix(all.String(), got.Text) || got.End != int64(all.Len()) || got.End-got.Begin != int64(len(got.Text)) {
			t.Errorf("after %d bytes: %d kept, from %d to %d", all.Len(), len(got.Text), got.Begin, got.End)
		}
	}
	if cap(p.kept) > 5*printedLimit {
		t.Errorf("%d bytes of memory", cap(p.kept))
	}
}

// Under the race detector, hosts read, list and stop tasks while commands
// print, end and start.
func TestOnlookersRaceWithNothing(t *testing.T) {
	t.Parallel()
	o := newOnlooker(t)
	ctx, cancel := context.WithCancel(t.Context())
	var looking sync.WaitGroup
	for range 3 {
		looking.Go(func() {
			for ctx.Err() == nil {
				for _, info := range o.tasks.List() {
					if _, err := o.tasks.Output(info.ID, 0, 100); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	looking.Go(func() { // so that the buffer of changes never fills
		for ctx.Err() == nil {
			select {
			case <-o.changes:
			case <-ctx.Done():
			}
		}
	})
	for range 5 {
		o.run("Bash", args{"command": "while :; do echo x; done", "run_in_background": true})
		o.run("Bash", args{"command": "seq 1000", "run_in_background": true})
	}
	for _, info := range o.tasks.List() {
		looking.Go(func() {
			if _, err := o.tasks.Stop(info.ID); err != nil {
				t.Error(err)
			}
		})
	}
	for _, info := range o.tasks.List() {
		o.run("TaskOutput", args{"id": info.ID, "wait_ms": 60_000})
	}
	cancel()
	looking.Wait()
	for _, info := range o.tasks.List() {
		if info.Ended.IsZero() {
			t.Errorf("task %s runs on", info.ID)
		}
	}
}
