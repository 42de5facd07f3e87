package env_test

import (
	"bytes"
	"crypto/rand"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/env/envtest"
)

func openLocal(t *testing.T) *env.Local {
	t.Helper()
	l, err := env.NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLocalConforms(t *testing.T) { // LOOP-34, LOOP-35, LOOP-120
	envtest.Run(t, func(t *testing.T) env.Environment { return openLocal(t) })
}

func TestLoggingConforms(t *testing.T) { // LOOP-37
	envtest.Run(t, func(t *testing.T) env.Environment { return env.Logging(openLocal(t), slog.New(slog.DiscardHandler)) })
}

func TestLoggingTellsNoSecrets(t *testing.T) { // LOOP-37, R-SEC
	t.Parallel()
	var log bytes.Buffer
	e := env.Logging(openLocal(t), slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err := e.WriteFile(t.Context(), "file", []byte("canary")); err != nil {
		t.Fatal(err)
	}
	if tree, ok := e.(env.Tree); !ok || tree.Rename("file", "moved") != nil {
		t.Error("further abilities of the environment are out of reach")
	}
	_, _ = e.ReadFile(t.Context(), "none")
	_, _ = e.Grep(t.Context(), env.GrepQuery{Pattern: "canary("})
	_, _ = e.Exec(t.Context(), env.Command{Line: "echo canary", Env: []string{"KEY=canary"}})
	for _, want := range []string{`msg="write file" module=env path=file`, "msg=rename module=env path=file", `path=none`, `problem="does not exist"`, `msg="run command"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, &log)
		}
	}
	if strings.Contains(log.String(), "canary") {
		t.Errorf("the log tells contents:\n%s", &log)
	}
}

// blunt is an environment that cannot confine commands.
type blunt struct{ env.Environment }

func TestReadOnly(t *testing.T) { // LOOP-37
	t.Parallel()
	l := openLocal(t)
	if err := l.WriteFile(t.Context(), "file", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	e := env.ReadOnly(l)
	if got, err := e.ReadFile(t.Context(), "file"); err != nil || string(got) != "kept" {
		t.Errorf("ReadFile = %q, %v", got, err)
	}
	if err := e.WriteFile(t.Context(), "file", nil); err == nil || err.Error() != "file was not written: this environment is read-only" {
		t.Errorf("WriteFile: %v", err)
	}
	refusing := env.ReadOnly(blunt{l})
	if _, err := refusing.Exec(t.Context(), env.Command{Line: "echo changed >file"}); err == nil {
		t.Error("Exec without confinement: no error")
	}
	if _, err := refusing.Start(t.Context(), env.Command{Line: "echo changed >file"}); err == nil {
		t.Error("Start without confinement: no error")
	}
	if _, ok := l.Confined(t.Context()); !ok {
		t.Skip("nothing confines commands here")
	}
	for name, e := range map[string]env.Environment{"directly": e, "logged": env.ReadOnly(env.Logging(l, slog.New(slog.DiscardHandler)))} {
		if got, err := e.Exec(t.Context(), env.Command{Line: "cat file; echo changed >file"}); err != nil || got.Stdout != "kept" || got.ExitCode == 0 {
			t.Errorf("Exec %s = %+v, %v", name, got, err)
		}
		p, err := e.Start(t.Context(), env.Command{Line: "cat file; cat; echo changed >file", Input: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Write("typed\n\x04"); err != nil {
			t.Errorf("Write %s: %v", name, err)
		}
		if got, err := p.Wait(t.Context()); err != nil || got.ExitCode == 0 || !strings.HasPrefix(p.Read(), "kepttyped\n") {
			t.Errorf("Start %s: %+v, %v", name, got, err)
		}
	}
	if got, _ := l.ReadFile(t.Context(), "file"); string(got) != "kept" {
		t.Errorf("the file has %q", got)
	}
}

func TestCleanupLeavesNoProcess(t *testing.T) { // LOOP-159, K-37
	t.Parallel()
	token := "TOKEN_OF_TEST=" + rand.Text()
	l := openLocal(t)
	for _, line := range []string{"sleep 300", "setsid sleep 300 & wait", "trap '' TERM; while true; do sleep 300; done"} {
		if _, err := l.Start(t.Context(), env.Command{Line: "echo ready; " + line, Env: []string{token}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Exec(t.Context(), env.Command{Line: "setsid sleep 300 >/dev/null 2>&1 &", Env: []string{token}}); err != nil {
		t.Fatal(err)
	}
	if len(carrying(t, token)) < 4 {
		t.Error("nothing to end")
	}
	if err := l.Cleanup(t.Context()); err != nil {
		t.Error(err)
	}
	if alive := carrying(t, token); len(alive) > 0 {
		t.Errorf("still alive: %q", alive)
	}
}

// carrying lists the command lines of processes that have entry in their
// environment.
func carrying(t *testing.T, entry string) (found []string) {
	t.Helper()
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(environs) == 0 {
		t.Skip("needs /proc")
	}
	for _, name := range environs {
		if environ, err := os.ReadFile(name); err == nil && bytes.Contains(environ, []byte(entry)) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
			found = append(found, string(line))
		}
	}
	return found
}

func TestSpillIsTheEnvironmentsToRead(t *testing.T) { // R-OUT
	t.Parallel()
	l := openLocal(t)
	l.SpillDir = filepath.Join(t.TempDir(), "output")
	got, err := l.Exec(t.Context(), env.Command{Line: "yes line | head -n 1000000"})
	if err != nil || got.Spill.Path == "" || got.Dropped == 0 {
		t.Fatalf("Exec: %+v, %v", got.Spill, err)
	}
	if page, err := l.ReadLines(t.Context(), got.Spill.Path, 500_000, 1); err != nil || page.Total != 1_000_000 || page.Lines[0] != "line" {
		t.Errorf("ReadLines: %+v, %v", page, err)
	}
}
