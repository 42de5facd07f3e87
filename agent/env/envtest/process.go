package envtest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent/env"
)

// start starts a command for a caller whose context ends at once.
func start(t *testing.T, e env.Environment, c env.Command) env.Process {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p, err := e.Start(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// expect reads until the process has printed want in total.
func expect(t *testing.T, p env.Process, want string) {
	t.Helper()
	var got strings.Builder
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); ; <-tick.C {
		got.WriteString(p.Read())
		if got.Len() >= len(want) || time.Now().After(deadline) {
			break
		}
	}
	if got.String() != want {
		t.Fatalf("printed %q, want %q", got.String(), want)
	}
}

// end waits for the process to end.
func end(t *testing.T, p env.Process) env.CommandResult {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := p.Wait(ctx)
	if err != nil {
		t.Fatalf("Wait: %v", err)
	}
	for range 10 {
		cancel()
		if _, err := p.Wait(ctx); err != nil {
			t.Fatalf("Wait for what has ended, with a context that has: %v", err)
		}
	}
	return r
}

func typing(t *testing.T, e env.Environment) {
	p := start(t, e, env.Command{Line: "echo ready; cat; echo end >&2; exit 4", Input: true})
	expect(t, p, "ready\n")
	for _, text := range []string{"one\n", "two\n\x04"} {
		if err := p.Write(text); err != nil {
			t.Fatalf("Write(%q): %v", text, err)
		}
	}
	if r := end(t, p); r.ExitCode != 4 || r.Interrupted || r.Stdout != "" {
		t.Errorf("result %+v", r)
	}
	expect(t, p, "one\ntwo\nend\n")
	if err := p.Write("three\n"); err == nil {
		t.Error("Write after the end: no error")
	}
}

func interrupting(t *testing.T, e env.Environment) {
	p := start(t, e, env.Command{Line: "echo ready; sleep 60"})
	expect(t, p, "ready\n")
	if err := p.Write("text"); err == nil {
		t.Error("Write without input: no error")
	}
	expired, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Wait(expired); err == nil {
		t.Error("Wait beyond its context: no error")
	}
	if err := p.Write("\x03"); err != nil {
		t.Errorf("Ctrl-C: %v", err)
	}
	if r := end(t, p); r.ExitCode == 0 || r.TimedOut {
		t.Errorf("result %+v", r)
	}
}

// onTerminal starts a command on a terminal, if the environment has terminals.
func onTerminal(t *testing.T, e env.Environment, line string) env.Process {
	t.Helper()
	p, err := e.Start(t.Context(), env.Command{Line: line, TTY: true})
	if errors.Is(err, env.ErrNoTerminal) {
		t.Skip("there are no terminals")
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func terminal(t *testing.T, e env.Environment) {
	p := onTerminal(t, e, "echo ready; cat; echo end >&2; exit 4")
	expect(t, p, "ready\r\n")
	for text, want := range map[string]string{"one\n": "one\r\none\r\n", "ä\n": "ä\r\nä\r\n"} {
		if err := p.Write(text); err != nil {
			t.Fatalf("Write(%q): %v", text, err)
		}
		expect(t, p, want)
	}
	if err := p.Write("\x04"); err != nil {
		t.Fatalf("Ctrl-D: %v", err)
	}
	if r := end(t, p); r.ExitCode != 4 || r.Interrupted || r.Stdout != "" {
		t.Errorf("result %+v", r)
	}
	expect(t, p, "end\r\n")
	if err := p.Write("two\n"); err == nil {
		t.Error("Write after the end: no error")
	}
	got, err := e.Exec(t.Context(), env.Command{Line: "echo out; echo err >&2", TTY: true})
	if err != nil || got.Stdout != "out\r\nerr\r\n" || got.Stderr != "" {
		t.Errorf("Exec: %+v, %v", got, err)
	}
}

func keys(t *testing.T, e env.Environment) {
	p := onTerminal(t, e, "echo ready; sleep 60")
	expect(t, p, "ready\r\n")
	if err := p.Write("\x03"); err != nil {
		t.Errorf("Ctrl-C: %v", err)
	}
	if r := end(t, p); r.ExitCode == 0 || r.TimedOut || r.Interrupted {
		t.Errorf("result %+v", r)
	}
	p = onTerminal(t, e, "echo ready; sleep 60")
	expect(t, p, "ready\r\n")
	p.Stop()
	if r := end(t, p); !r.Interrupted {
		t.Errorf("stopped: %+v", r)
	}
}

func stopping(t *testing.T, e env.Environment) {
	p := start(t, e, env.Command{Line: "echo ready; sleep 60"})
	expect(t, p, "ready\n")
	p.Stop()
	p.Stop() // does no harm
	if r := end(t, p); !r.Interrupted || r.TimedOut {
		t.Errorf("stopped: %+v", r)
	}
	p = start(t, e, env.Command{Line: "sleep 60", Timeout: 100 * time.Millisecond})
	if r := end(t, p); !r.TimedOut || r.Interrupted {
		t.Errorf("timed out: %+v", r)
	}
	if _, err := e.Start(t.Context(), env.Command{Line: "echo x", Dir: "none"}); err == nil {
		t.Error("a missing directory: no error")
	}
}

func cleaningUp(t *testing.T, e env.Environment) {
	p := start(t, e, env.Command{Line: "echo ready; sleep 60"})
	expect(t, p, "ready\n")
	if err := e.Cleanup(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := end(t, p); !r.Interrupted {
		t.Errorf("result %+v", r)
	}
	if _, err := e.Start(t.Context(), env.Command{Line: "echo x"}); err == nil {
		t.Error("Start after Cleanup: no error")
	}
	if _, err := e.Exec(t.Context(), env.Command{Line: "echo x"}); err == nil {
		t.Error("Exec after Cleanup: no error")
	}
}
