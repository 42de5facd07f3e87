package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/sandbox/confine"
)

// begin starts a command that was planned before. It returns what the command
// printed, once nothing of it is left, and what the jail says.
func begin(t *testing.T, j *jail) (printed string, refused error) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out")) // a pipe would wait for who holds it
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.CommandContext(t.Context(), j.argv[0], j.argv[1:]...)
	cmd.Stdout, cmd.ExtraFiles, cmd.SysProcAttr = out, j.files, ownSession()
	closeDescriptorsOnExec()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	err = j.entered()
	_ = cmd.Wait()
	j.release()
	text, failed := os.ReadFile(out.Name())
	if failed != nil {
		t.Fatal(failed)
	}
	return string(text), err
}

// A command of another Atelier, or one that begins after the plan, may exchange
// what is about to be mounted. A link to a secret, and a folder that is not the
// one that was planned, are not mounted. It does not matter which command did it,
// or whether this program knows of it.
func TestExchangedFoldersAreRefused(t *testing.T) {
	t.Parallel()
	everyNamespace(t, exchange)
}

func exchange(t *testing.T, by enforcer) {
	for name, row := range map[string]struct {
		exchange string
		refused  bool
	}{
		"nothing":        {"true", false},
		"a link":         {"mv .husky old && ln -s ../home/.ssh .husky", true},
		"another folder": {"mv .husky old && cp -r old .husky", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYard(t)
			kept := filepath.Join(y.project, ".husky")
			if err := os.Mkdir(kept, 0o755); err != nil {
				t.Fatal(err)
			}
			y.profile.Protected = append(y.profile.Protected, kept)
			spec := y.spec("cat .husky/* ~/.ssh/*; echo ran")
			spec.Confine = &y.profile
			j, err := by.jail(spec, spec.Argv)
			if err != nil {
				t.Fatal(err)
			}
			y.free(t, row.exchange)
			out, err := begin(t, j)
			if errors.Is(err, ErrNoConfinement) != row.refused || strings.Contains(out, "ran") == row.refused || strings.Contains(out, canary) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// The program may end, or give up, while bubblewrap waits for the end of its rules.
// The command does not begin then.
func TestAHeldCommandThatNobodyReleasesDoesNotBegin(t *testing.T) {
	t.Parallel()
	needsBubblewrap(t)
	rules, err := socketRules(confine.Profile{})
	if err != nil {
		t.Fatal(err)
	}
	for want, end := range map[string]func(*hold) error{
		"ran": func(h *hold) error { return h.release(func() error { return nil }) },
		"":    (*hold).close,
	} {
		filter, h, err := filterFile(rules, true)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), wholeBubblewrap().program,
			"--seccomp", "3", "--unshare-user", "--die-with-parent", "--ro-bind", "/", "/", "--", "/bin/echo", "ran")
		var out strings.Builder
		cmd.Stdout, cmd.ExtraFiles, cmd.SysProcAttr = &out, []*os.File{filter}, ownSession()
		closeDescriptorsOnExec()
		if err := errors.Join(cmd.Start(), filter.Close(), end(&h)); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); (err == nil) != (want == "ran") || strings.TrimSpace(out.String()) != want {
			t.Errorf("want %q, it printed %q: %v", want, out.String(), err)
		}
	}
}

// A command that traces its namespace's first process can keep it from ending with
// bubblewrap. Nothing survives all the same.
func TestTheNamespaceEndsByForce(t *testing.T) {
	t.Parallel()
	needsBubblewrap(t)
	y := newYard(t)
	spec := y.spec("setsid sleep 4711 >/dev/null 2>&1 & echo ran")
	spec.Confine = &y.profile
	j, err := wholeBubblewrap().jail(spec, spec.Argv)
	if err != nil {
		t.Fatal(err)
	}
	j.argv = slices.DeleteFunc(j.argv, func(arg string) bool { return arg == "--die-with-parent" })
	if out, err := begin(t, j); err != nil || !strings.Contains(out, "ran") {
		t.Fatal(err, out)
	}
	if left := processesIn(t, y.project); left != "" {
		t.Errorf("left: %s", left)
	}
}
