package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"testing"
)

// A command that is told to end while it is being started ends with its launcher:
// there is nobody else yet who would understand a signal.
func TestNobodyLeadsBeforeTheCommand(t *testing.T) {
	t.Parallel()
	everyNamespace(t, func(t *testing.T, by enforcer) {
		y := newYard(t)
		spec := y.spec("sleep 4711")
		spec.Confine = &y.profile
		j, err := by.jail(spec, spec.Argv)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(j.release)
		cmd := exec.CommandContext(t.Context(), j.argv[0], j.argv[1:]...)
		cmd.ExtraFiles, cmd.SysProcAttr = j.files, ownSession()
		closeDescriptorsOnExec()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		began := make(chan error, 1)
		go func() { began <- j.entered() }() // ends when the command runs
		for j.leader() == 0 && len(began) == 0 {
			runtime.Gosched()
		}
		if leader := j.leader(); leader != 0 && childrenOf(leader) == "" {
			t.Error("it leads nobody")
		}
		if err := <-began; err != nil {
			t.Fatal(err)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// A command may be told to end at each moment of its start, and never runs until
// its grace is over then.
func TestACommandEndsWhileItIsStarted(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.by = needsLauncher(t)
	for _, tty := range []bool{false, true} {
		for i := range 30 {
			ctx, cancel := context.WithCancel(t.Context())
			spec := y.spec("sleep 4711")
			spec.Confine, spec.TTY = &y.profile, tty
			go func() { // ends soon
				for range i * 200 {
					_, _ = os.Lstat(y.project)
				}
				cancel()
			}()
			if r, err := Run(ctx, spec); err == nil && (!r.Interrupted || r.Duration >= grace) || err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("on a terminal %v, %d: %+v, %v", tty, i, r, err)
			}
		}
	}
	settle()
	if left := processesIn(t, y.project); left != "" {
		t.Errorf("left: %s", left)
	}
}
