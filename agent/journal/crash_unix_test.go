//go:build unix

package journal_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/journal"
)

// The test's own program, started again, begins a step and waits to be killed in the
// middle of it.
const crashing = "JOURNAL_TEST_CRASH"

func TestMain(m *testing.M) {
	if home := os.Getenv(crashing); home != "" {
		begin(home)
	}
	os.Exit(m.Run())
}

func begin(home string) {
	folder, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	r := journal.Open(home).Recorder("session", folder)
	command := agent.GateCall{Tool: "Bash", Access: agent.Access{Command: "x"}}
	for i := range 3 { // earlier steps, whose changes are not those of the last one
		end := r.Begin(context.Background(), fmt.Sprint("earlier", i), command)
		write(filepath.Join(folder, "earlier"), fmt.Sprint(i))
		end(context.Background())
	}
	r.Begin(context.Background(), "edit", agent.GateCall{Tool: "Edit", Access: agent.Access{Writes: []string{"edited"}}})
	r.Begin(context.Background(), "command", command)
	write(filepath.Join(folder, "edited"), "2")
	write(filepath.Join(folder, "new"), "1")
	if err := os.Remove(filepath.Join(folder, "gone")); err != nil {
		panic(err)
	}
	fmt.Println("begun")
	select {}
}

func write(name, text string) {
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		panic(err)
	}
}

// crash has a process killed in the middle of a step.
func (b *bench) crash() {
	b.Helper()
	c := exec.CommandContext(b.Context(), os.Args[0])
	c.Dir, c.Env = b.folder, append(os.Environ(), crashing+"="+b.home)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	b.must(err)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "begun\n" {
		b.Errorf("%q, %v", line, err)
	}
	b.must(c.Process.Kill())
	_ = c.Wait() // it was killed
}

// After kill -9, the next process says what the steps changed that were cut off.
func TestStepsThatWereCutOff(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1", "edited": "1", "gone": "1"})
	b.journal.Close()
	b.crash()
	b.reopen()
	b.journal.Prepare(b.folder) // as the prompt of another session does
	b.expect(b.recorder().Recover(t.Context(), "command"), `edited: file "1" -> file "2"`, `gone: file "1" -> nothing`, `new: nothing -> file "1"`)
	b.expect(b.recorder().Recover(t.Context(), "edit"), `edited: file "1" -> file "2"`)
	for _, id := range []string{"command", "edit", "earlier1", "unknown", "../../x"} {
		b.expect(b.recorder().Recover(t.Context(), id)) // it is told once
	}
	b.expect(b.command(func() { b.write("a", "2") }), `a: file "1" -> file "2"`)
}

// A step that another process is in the middle of is not reported as cut off,
// and both processes record.
func TestProcessesShareAFolder(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1", "b": "1"})
	other := journal.Open(b.home)
	t.Cleanup(other.Close)
	command := agent.GateCall{Tool: "Bash", Access: agent.Access{Command: "x"}}
	end := other.Recorder("other", b.folder).Begin(t.Context(), "1", command)
	b.expect(b.command(func() { b.write("a", "2") }), `a: file "1" -> file "2"`)
	b.write("b", "2")
	b.expect(end(t.Context()), `a: file "1" -> file "2"`, `b: file "1" -> file "2"`)
}

// A damaged index is read as far as it is whole, and nothing is lost.
func TestDamagedIndexes(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func([]byte) []byte{
		"empty": func([]byte) []byte { return nil }, "cut": func(x []byte) []byte { return x[:len(x)-3] },
		"changed": func(x []byte) []byte { x[len(x)/2] ^= 1; return x }, "noise": func(x []byte) []byte { return append(x, "noise"...) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"a": "1", "b": "1"})
			b.command(func() { b.write("c", "1") })
			b.journal.Close()
			found, err := filepath.Glob(filepath.Join(b.home, "journal", "trees", "*"))
			b.must(err)
			for _, name := range found {
				if filepath.Ext(name) == "" {
					data, err := os.ReadFile(name)
					b.must(err)
					b.must(os.WriteFile(name, damage(data), 0o600))
				}
			}
			b.reopen()
			b.expect(b.command(func() { b.write("a", "2") }), `a: file "1" -> file "2"`)
		})
	}
}
