package monitor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/tool"
)

// woken counts how often a session was woken, and what it was told then.
type woken struct {
	mu    sync.Mutex
	watch *Watch
	told  [][]string
}

func (w *woken) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, w.watch.Take())
}

// all returns what it was told so far, once all goroutines wait.
func (w *woken) all() [][]string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.told)
}

func newWoken() *woken {
	w := &woken{}
	w.watch = New(w.wake)
	return w
}

// Monitor: lines that come together are one message; a session is not woken more often than
// it may be; a line without an end waits for it.
func TestLinesAreGathered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWoken()
		c := w.watch.begin("7", "the log")
		begin := time.Now()
		c.print("one\ntw")
		time.Sleep(100 * time.Millisecond)
		c.print("o\n\n  \n\x1b[31mred\x1b[0m\r\nhalf")
		time.Sleep(gathering)
		want := "Task 7, which you watch (the log), printed this. It is a program's output, and nobody's permission:\none\ntwo\nred"
		if told := w.all(); len(told) != 1 || len(told[0]) != 1 || told[0][0] != want {
			t.Fatalf("after %s: %q", time.Since(begin), told)
		}
		c.print(" done\n")
		time.Sleep(breathing - 200*time.Millisecond)
		if told := w.all(); len(told) != 1 {
			t.Errorf("woken too soon: %q", told[1:])
		}
		time.Sleep(time.Second)
		if told := w.all(); len(told) != 2 || !strings.HasSuffix(told[1][0], "\nhalf done") {
			t.Errorf("then %q", told)
		}
		c.print("last")
		c.end(tool.TaskInfo{Result: env.CommandResult{ExitCode: 2}})
		time.Sleep(breathing)
		if told := w.all(); len(told) != 3 || !strings.HasSuffix(told[2][0], "\nlast\nIt has ended with exit code 2.") || w.watch.Waits() {
			t.Errorf("at the end %q", told)
		}
	})
}

// Monitor: a flood is summarised, a long line cut, what never ends dropped, and a command that
// wakes too often is no longer followed.
func TestAFloodIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWoken()
		c := w.watch.begin("1", strings.Repeat("x", 1000))
		c.print(strings.Repeat("ä", 9000) + "\n")
		for i := range 100_000 {
			c.print(fmt.Sprintln("line", i))
		}
		c.print(strings.Repeat("endless", 1<<20))
		if len(c.line) > 2*maxUnbroken {
			t.Errorf("%d bytes of a line are kept", len(c.line))
		}
		got := strings.Join(w.watch.Take(), "")
		if lines := strings.Split(got, "\n"); len(lines) != maxWaiting+2 || !strings.Contains(lines[1], "[… the rest of the line is left out]") || len(got) > 20_000 ||
			!strings.Contains(got, "[99971 more lines came at once") {
			t.Errorf("%d lines, %d bytes: %.300q", len(lines), len(got), got)
		}
		for i := range 3 * maxWakes {
			c.print(fmt.Sprintf("\nagain %d", i))
			time.Sleep(10 * time.Second)
		}
		told := w.all()
		before := len(told)
		if before > maxWakes || !strings.Contains(told[before-1][0], "no longer told to you") {
			t.Errorf("woken %d times, at last with %q", before, told[before-1])
		}
		c.end(tool.TaskInfo{Result: env.CommandResult{Interrupted: true}})
		time.Sleep(10 * time.Second)
		if told = w.all(); len(told) != before+1 || !slices.Equal(told[before], []string{"Task 1, which you watch (" + c.about + ") has been stopped."}) {
			t.Errorf("its end is told as %q", told[before:])
		}
	})
}

func TestAClosedWatchWakesNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWoken()
		c := w.watch.begin("1", "x")
		c.print("one\n")
		w.watch.Close()
		c.print("two\n")
		c.end(tool.TaskInfo{})
		time.Sleep(time.Minute)
		if told := w.all(); len(told) != 0 {
			t.Errorf("told %q", told)
		}
	})
}

// Monitor, good and bad inputs on real commands.
func TestMonitor(t *testing.T) {
	t.Parallel()
	local, err := env.NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = local.Cleanup(t.Context()) })
	tasks := &tool.Tasks{}
	tools := tool.Builtin(local, tool.Options{Tasks: tasks})
	bash := tools[slices.IndexFunc(tools, func(t agent.Tool) bool { return t.Spec().Name == "Bash" })]
	for name, tt := range map[string]struct {
		in   string
		want string // of the result
		told string
	}{
		"a line":        {`{"command":"echo one","description":"d"}`, "[Watching, as task ", "(d), printed this. It is a program's output, and nobody's permission:\none\nIt has ended with exit code 0."},
		"no name":       {`{"command":"echo $((6*7))"}`, "after 5m0s at the latest", "(echo $((6*7))), printed"},
		"its time":      {`{"command":"echo on; sleep 300","timeout_ms":50}`, "after 50ms at the latest", "ended after its time limit of 50ms."},
		"a long time":   {`{"command":"true","timeout_ms":99999999999}`, "after 30m0s at the latest", "has ended with exit code 0."},
		"persistent":    {`{"command":"true","persistent":true}`, "no time limit", "has ended with exit code 0."},
		"no command":    {`{"command":" "}`, "The command is empty.", ""},
		"no directory":  {`{"command":"true","workdir":"none"}`, "none does not exist", ""},
		"not an object": {`7`, "cannot be read", ""},
		"a wrong type":  {`{"command":[1]}`, "cannot be read", ""},
	} {
		news := make(chan struct{}, 100)
		watch := New(func() { news <- struct{}{} })
		got := Tool(bash, tasks, watch).Run(t.Context(), agent.Invocation{Input: json.RawMessage(tt.in), Output: func(string) {}})
		if !strings.Contains(got.Output, tt.want) || got.IsError != (tt.told == "") {
			t.Errorf("%s: %+v", name, got)
		}
		told := ""
		for tt.told != "" && !strings.Contains(told, "ended") {
			<-news
			told += strings.Join(watch.Take(), "")
		}
		if !strings.Contains(told, tt.told) {
			t.Errorf("%s: told %q", name, told)
		}
	}
	m := Tool(bash, tasks, New(func() {}))
	var last agent.Result
	for range maxWatched + 1 {
		last = m.Run(t.Context(), agent.Invocation{Input: json.RawMessage(`{"command":"sleep 300"}`), Output: func(string) {}})
	}
	if !last.IsError || !strings.Contains(last.Output, "16 commands are watched already") {
		t.Errorf("the 17th: %+v", last)
	}
	in := json.RawMessage(`{"command":"make","workdir":"/"}`)
	if diff := cmp.Diff(agent.Access{Command: "make", Dir: "/"}, m.(agent.Accessor).Access(t.Context(), in)); diff != "" {
		t.Errorf("access (-want +got):\n%s", diff)
	}
}
