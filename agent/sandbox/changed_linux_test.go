package sandbox

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/sandbox/confine"
)

// meddled does something after the plans of a command are made, as another program does
// that works in the same folder.
type meddled struct {
	enforcer
	plans  int
	meddle func(plan int) // it may be nil
	began  func()         // called when the plan is being carried out; it may be nil
}

func (m *meddled) jail(spec Spec, argv []string) (*jail, error) {
	j, err := m.enforcer.jail(spec, argv)
	m.plans++
	if m.meddle != nil {
		m.meddle(m.plans)
	}
	if m.began != nil && err == nil {
		began := j.began
		j.began = func() error {
			m.began()
			return began()
		}
	}
	return j, err
}

// replace puts another file at a path, as an editor that saves.
func replace(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
		t.Error(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Error(err)
	}
}

// K-47: a command runs although what its plan names is replaced or removed while it is
// being confined, as by an editor, by git or by a program that ends with its socket. Only
// what never stands still keeps it from running.
func TestAPlanIsMadeAgain(t *testing.T) {
	t.Parallel()
	l := needsLauncher(t)
	for name, test := range map[string]struct {
		meddle func(t *testing.T, y *yard, plan int)
		plans  int  // how many are made
		fails  bool // the command does not run
	}{
		"nothing happens":        {plans: 1},
		"a secret is saved":      {meddle: once(func(t *testing.T, y *yard) { replace(t, y.project+"/.env", "SECRET="+canary) }), plans: 2},
		"a secret is removed":    {meddle: once(func(_ *testing.T, y *yard) { _ = os.Remove(y.project + "/.env") }), plans: 2},
		"settings are saved":     {meddle: once(func(t *testing.T, y *yard) { replace(t, y.project+"/.git/config", "[core]\n\tbare = false\n") }), plans: 2},
		"a folder is made again": {meddle: once(func(t *testing.T, y *yard) { moveAway(t, y.project+"/.husky") }), plans: 2},
		"a folder is gone":       {meddle: once(func(_ *testing.T, y *yard) { _ = os.RemoveAll(y.project + "/deep") }), plans: 2},
		"three times in a row": {meddle: func(t *testing.T, y *yard, plan int) {
			if plan <= 3 {
				replace(t, y.project+"/.env", canary)
			}
		}, plans: 4},
		"for ever": {meddle: func(t *testing.T, y *yard, _ int) { replace(t, y.project+"/.env", canary) }, plans: mostPlans, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYard(t)
			for _, dir := range []string{".husky", "deep/er"} {
				if err := os.MkdirAll(filepath.Join(y.project, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for _, file := range []string{".env", "deep/er/.env"} {
				replace(t, filepath.Join(y.project, file), canary)
				y.profile.Secrets = append(y.profile.Secrets, filepath.Join(y.project, file))
			}
			y.profile.Protected = append(y.profile.Protected, y.project+"/.husky", y.project+"/.git/config")
			m := &meddled{enforcer: l}
			if test.meddle != nil {
				m.meddle = func(plan int) { test.meddle(t, y, plan) }
			}
			spec := y.spec("cat .env deep/er/.env; echo x >>.git/config; echo x >.husky/x; echo ran")
			spec.by, spec.Confine = m, &y.profile
			r, err := Run(t.Context(), spec)
			if m.plans != test.plans || (err != nil) != test.fails || strings.Contains(r.Stdout, "ran") == test.fails {
				t.Errorf("%d plans, %v, %q", m.plans, err, r.Stdout)
			}
			if test.fails && (!errors.Is(err, ErrNoConfinement) || !strings.Contains(err.Error(), y.project+"/.env")) {
				t.Error(err)
			}
			if strings.Contains(r.Stdout, canary) {
				t.Errorf("a secret is shown: %q", r.Stdout)
			}
			if b, err := os.ReadFile(y.project + "/.git/config"); err != nil || strings.Contains(string(b), "\nx\n") {
				t.Errorf("the settings were changed: %v, %s", err, b)
			}
		})
	}
}

// once does something after the first plan.
func once(meddle func(*testing.T, *yard)) func(*testing.T, *yard, int) {
	return func(t *testing.T, y *yard, plan int) {
		if plan == 1 {
			meddle(t, y)
		}
	}
}

// moveAway puts a new folder in place of one.
func moveAway(t *testing.T, path string) {
	t.Helper()
	if err := errors.Join(os.Rename(path, path+".old"), os.Mkdir(path, 0o755)); err != nil {
		t.Error(err)
	}
}

// A command runs although sockets of other programs disappear while they are being
// covered.
func TestSocketsThatDisappear(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.profile.Sockets = confine.SocketsOwn
	const sockets, rounds = 900, 3
	m := &meddled{enforcer: needsLauncher(t)}
	for range rounds {
		var open []net.Listener
		for i := range sockets {
			listener, err := net.Listen("unix", filepath.Join(y.base, fmt.Sprintf("outside/%d.sock", i)))
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, listener)
		}
		gone := make(chan struct{})
		m.began = func() {
			if m.plans > 1 {
				return
			}
			go func() { // ends soon
				defer close(gone)
				for _, i := range rand.Perm(len(open)) { // in another order than they are covered in
					_ = open[i].Close() // it removes the file
				}
			}()
		}
		m.plans = 0
		spec := y.spec("echo ran")
		spec.by, spec.Confine = m, &y.profile
		if r, err := Run(t.Context(), spec); err != nil || r.Stdout != "ran\n" || m.plans != 1 {
			t.Errorf("%d plans, %v, %q", m.plans, err, r.Stdout)
		}
		<-gone
	}
}
