package sandbox

import (
	"crypto/rand"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"atelier.dev/atelier/agent/sandbox/confine"
)

// onTerminal starts a script on a terminal.
func onTerminal(t *testing.T, script string, change func(*Spec)) *Process {
	t.Helper()
	return startBash(t, script, func(s *Spec) {
		s.TTY = true
		if change != nil {
			change(s)
		}
	})
}

// over waits for the end and returns it with the rest of the output.
func over(t *testing.T, p *Process) (Result, string) {
	t.Helper()
	until(t, "the end of the command", func() bool {
		select {
		case <-p.done:
			return true
		default:
			return false
		}
	})
	r, err := p.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r, p.Read()
}

// LOOP-26: a command has a terminal of its own on request, with a size and a
// type, and its output is complete to the last byte.
func TestACommandOnATerminal(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, `test -t 0 && test -t 1 && test -t 2 && echo terminal; stty size; echo $TERM; ps -o tty= $$ | grep -c pts; echo err >&2; seq 3000; exit 3`, nil)
	r, got := over(t, p)
	if got = strings.ReplaceAll(got, "\r\n", "\n"); r.ExitCode != 3 || r.Interrupted || r.Left {
		t.Errorf("%+v, %q", r, got[:min(len(got), 100)])
	}
	if !strings.HasPrefix(got, "terminal\n24 160\nxterm\n1\nerr\n1\n2\n") || !strings.HasSuffix(got, "\n2999\n3000\n") || strings.Count(got, "\n") != 3005 {
		t.Errorf("printed %d lines: %q…", strings.Count(got, "\n"), got[:min(len(got), 100)])
	}
	if r, err := Run(t.Context(), Spec{Argv: []string{"/bin/sh", "-c", "test -t 0 || test -t 1; echo $? $TERM"}}); err != nil || r.Stdout != "1 dumb\n" {
		t.Errorf("without asking for it: %+v, %v", r, err)
	}
}

// OAS-306: typed text reaches the program, and keys mean what they do at a
// terminal.
func TestTypingAtATerminal(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, `trap 'echo interrupted' INT; echo ready; while read -r line; do echo "got $line"; done; echo over`, nil)
	expect(t, p, "ready\r\n")
	for _, step := range [][2]string{{"one\n", "one\r\ngot one\r\n"}, {"ä\n", "got ä\r\n"}, {"\x03", "interrupted"}} {
		if err := p.Write(step[0]); err != nil {
			t.Fatal(err)
		}
		expect(t, p, step[1])
	}
	if err := p.Write("\x04"); err != nil {
		t.Fatal(err)
	}
	if r, got := over(t, p); r.ExitCode != 0 || !strings.HasSuffix(got, "over\r\n") {
		t.Errorf("%+v, %q", r, got)
	}
	if err := p.Write("x"); err != ErrEnded {
		t.Errorf("Write after the end: %v", err)
	}
	sleeping := onTerminal(t, "echo ready; sleep 300", nil)
	expect(t, sleeping, "ready")
	if err := sleeping.Write("\x03"); err != nil {
		t.Fatal(err)
	}
	if r, _ := over(t, sleeping); r.ExitCode != 130 {
		t.Errorf("Ctrl-C: %+v", r)
	}
}

// A program that does not read delays neither its writer nor its end.
func TestADeafProgramOnATerminal(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, "stty raw -echo; echo ready; sleep 300", nil)
	expect(t, p, "ready")
	begin := time.Now()
	for range 100 {
		if p.Write(strings.Repeat("x", 4000)) != nil {
			break
		}
	}
	if took := time.Since(begin); took > 20*typingTime { // each of the hundred would wait that long
		t.Errorf("typing took %v", took)
	}
	p.Stop()
}

// LOOP-123, K-37, R-PROC: a command on a terminal ends with everything that it
// started, including processes that its shell put into groups of their own.
func TestStopOnATerminalLeavesNoProcess(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"plain":       "echo ready; sleep 300",
		"group":       "set -m; sleep 300 & echo ready; wait",
		"session":     "setsid sleep 300 & echo ready; wait",
		"deaf":        "trap '' TERM HUP INT; echo ready; while true; do sleep 300; done",
		"interactive": "exec bash --norc --noprofile -i -c 'sleep 300 & echo ready; sleep 300'",
	} {
		token := "TOKEN_OF_TEST=" + rand.Text()
		p := onTerminal(t, script, func(s *Spec) { s.Env = append(os.Environ(), token) })
		expect(t, p, "ready")
		begin := time.Now()
		p.Stop()
		if r, _ := over(t, p); !r.Interrupted || r.TimedOut {
			t.Errorf("%s: %+v", name, r)
		}
		if took := time.Since(begin); took > time.Minute { // the scripts take five
			t.Errorf("%s took %v", name, took)
		}
		if alive := carrying(t, token); len(alive) > 0 {
			t.Errorf("%s: still alive: %q", name, alive)
		}
	}
	token := "TOKEN_OF_TEST=" + rand.Text()
	r, err := Run(t.Context(), Spec{
		Argv: []string{"/bin/bash", "-c", "echo begun; sleep 300"}, TTY: true, Timeout: 200 * time.Millisecond, Env: append(os.Environ(), token),
	})
	if err != nil || !r.TimedOut || r.Stdout != "begun\r\n" || len(carrying(t, token)) > 0 {
		t.Errorf("timed out: %+v, %v", r, err)
	}
}

// LOOP-37: on a terminal, too, a read-only command changes nothing.
func TestReadOnlyOnATerminal(t *testing.T) {
	t.Parallel()
	if !CanConfine(t.Context()) {
		t.Skip("commands cannot be confined here")
	}
	dir := t.TempDir()
	r, err := Run(t.Context(), Spec{Argv: []string{"/bin/bash", "-c", "test -t 1 && echo terminal; echo x >file"}, Dir: dir, TTY: true, Confine: &confine.Profile{}})
	if err != nil || r.ExitCode == 0 || !strings.HasPrefix(r.Stdout, "terminal\r\n") {
		t.Errorf("%+v, %v", r, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("a read-only command wrote a file: %v, %v", entries, err)
	}
}

// A process that keeps the terminal open after its command is left running, not
// waited for.
func TestATerminalThatIsHeld(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, "trap '' HUP; sleep 300 & echo started", func(s *Spec) { s.Scope = NewScope(); t.Cleanup(s.Scope.End) })
	if r, got := over(t, p); !r.Left || r.ExitCode != 0 || got != "started\r\n" {
		t.Errorf("%+v, %q", r, got)
	}
}

// K-02: the output of a terminal is valid UTF-8 and bounded, too.
func TestOutputOfATerminalIsCaptured(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, `printf '\xff\xc3'; sleep 0.1; printf '\xa4\n'; yes line | head -c 3000000`, func(s *Spec) { s.Limit = 1000 })
	r, got := over(t, p)
	if !utf8.ValidString(got) || !strings.HasPrefix(got, "\uFFFDä\r\n") || r.Dropped == 0 || len(got) > 1200 {
		t.Errorf("%d bytes, %d dropped: %q…", len(got), r.Dropped, got[:min(20, len(got))])
	}
}
