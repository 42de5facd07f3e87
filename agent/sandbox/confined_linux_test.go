package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"atelier.dev/atelier/agent/sandbox/confine"
)

// Nothing survives a command, however it ends, not even what leaves its group
// and drops its environment.
func TestNothingSurvivesConfinement(t *testing.T) {
	t.Parallel()
	everyNamespace(t, nothingSurvives)
}

func nothingSurvives(t *testing.T, by enforcer) {
	y := newYard(t)
	y.by = by
	for _, daemon := range []string{`setsid env -i sleep 4711 &`, `(setsid env -i sh -c "trap '' TERM HUP; sleep 4711" &) &`, `nohup sleep 4711 >/dev/null &`} {
		for _, how := range []string{"end", "stop"} {
			mark := y.base + how
			spec := y.spec(strings.ReplaceAll(daemon, "sleep 4711", "sleep 4711 "+mark+" 2>/dev/null || sleep 4711.0") + ` echo ready; ` + map[string]string{"end": "true", "stop": "sleep 4711"}[how])
			spec.Confine = &y.profile
			ready := make(chan struct{}, 1)
			spec.Output = func(string) {
				select {
				case ready <- struct{}{}:
				default:
				}
			}
			p, err := Start(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			if how == "stop" {
				<-ready
				p.Stop()
			}
			if _, err := p.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			settle()
			if left := processesIn(t, y.project); left != "" {
				t.Errorf("%s, %s: left: %s", daemon, how, left)
			}
		}
	}
}

// processesIn lists the processes whose working folder is dir.
func processesIn(t *testing.T, dir string) (list string) {
	t.Helper()
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		if cwd, err := os.Readlink(p + "/cwd"); err == nil && cwd == dir {
			line, _ := os.ReadFile(p + "/cmdline")
			list += filepath.Base(p) + " " + strings.ReplaceAll(string(line), "\x00", " ") + "\n"
		}
	}
	return list
}

// A command that is told to end may do so in order.
func TestConfinedCommandsEndInOrder(t *testing.T) {
	t.Parallel()
	everyMeans(t, endInOrder)
}

func endInOrder(t *testing.T, y *yard) {
	if err := os.WriteFile(filepath.Join(y.project, "ended"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, tty := range map[string]bool{"plain": false, "on a terminal": true} {
		ready := make(chan struct{})
		spec := y.spec(`trap 'echo bye >ended; exit' TERM; echo ready; while :; do sleep 0.01; done`)
		spec.Confine, spec.TTY = &y.profile, tty
		var once atomic.Bool
		spec.Output = func(string) {
			if once.CompareAndSwap(false, true) {
				close(ready)
			}
		}
		p, err := Start(context.Background(), spec)
		if err != nil {
			t.Fatal(err)
		}
		<-ready
		p.Stop()
		ended := filepath.Join(y.project, "ended")
		if data, err := os.ReadFile(ended); string(data) != "bye\n" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
		if err := os.Truncate(ended, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// Ctrl-C interrupts what runs on a terminal and not the terminal's owner.
func TestConfinedTerminal(t *testing.T) {
	t.Parallel()
	everyMeans(t, terminal)
}

func terminal(t *testing.T, y *yard) {
	spec := y.spec(`trap 'echo interrupted; exit 3' INT; tty -s && stty -echo </dev/tty && echo ready; while :; do sleep 0.01; done`)
	spec.Confine, spec.TTY = &y.profile, true
	var p *Process
	started := make(chan struct{})
	ready := make(chan struct{}, 1)
	spec.Output = func(text string) {
		if strings.Contains(text, "ready") {
			ready <- struct{}{}
		}
	}
	p, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	close(started)
	<-ready
	if err := p.Write("\x03"); err != nil {
		t.Fatal(err)
	}
	r, err := p.Wait(t.Context())
	if out := p.Read(); err != nil || r.ExitCode != 3 || !strings.Contains(out, "interrupted") {
		t.Errorf("%+v, %v:\n%s", r, err, out)
	}
}

// A command whose confinement cannot be enforced does not run, and the error
// says why.
func TestConfinementIsRefused(t *testing.T) {
	t.Parallel()
	everyMeans(t, refuse)
}

func refuse(t *testing.T, y *yard) {
	if err := os.Symlink("main.go", filepath.Join(y.project, ".envrc")); err != nil {
		t.Fatal(err)
	}
	changes := map[string]func(*confine.Profile){
		"no such file":           func(p *confine.Profile) { p.Writable = []string{y.base + "/gone"} },
		"whole file system":      func(p *confine.Profile) { p.Writable = []string{"/"} },
		".envrc is a link":       func(p *confine.Profile) { p.Protected = []string{y.project + "/.envrc"} },
		"no such file or direct": func(p *confine.Profile) { p.Temp = y.base + "/gone" },
	}
	if y.by.level().By == confine.Landlock {
		changes["allowedDomains"] = func(p *confine.Profile) { p.Network, p.Proxy = confine.NetworkProxy, dead{} }
		changes["allowAllUnixSockets"] = func(p *confine.Profile) { p.Sockets = confine.SocketsAll }
	}
	for want, change := range changes {
		profile := y.profile
		change(&profile)
		spec := y.spec("echo x >ran")
		spec.Confine = &profile
		_, err := Run(t.Context(), spec)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q, want %q", err, want)
		}
		if _, err := os.Stat(filepath.Join(y.project, "ran")); err == nil {
			t.Errorf("%s: it ran", want)
		}
	}
}

// A launcher that does not work says why, and nothing runs with it.
func TestALauncherThatDoesNotWork(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"/bin/true": "", "/bin/false": "exit status", "/nowhere/launcher": "no such file"} {
		err := try(launcher{program: name})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	found := confine.Level{Lack: confine.LackRefused}
	if _, err := (none{found}).jail(Spec{}, nil); !errors.Is(err, ErrNoConfinement) || !strings.Contains(err.Error(), found.Reason()) {
		t.Error(err)
	}
}

// A launcher that failed once is tried again later, and one that works is not.
func TestTheLauncherIsTriedUntilItWorks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looked, works := 0, false
		find := func() launcher {
			looked++
			if works {
				return launcher{found: confine.Level{By: confine.Namespaces, Writes: true, Reads: true, Network: true}}
			}
			return launcher{found: confine.Level{Lack: confine.LackRefused}}
		}
		var s search
		for i, step := range []struct {
			wait         time.Duration
			now, reports bool
			looked       int
		}{{0, false, false, 1}, {searchEvery - 1, true, false, 1}, {1, true, true, 2}, {2 * searchEvery, false, true, 2}} {
			time.Sleep(step.wait)
			works = step.now
			if found := s.result(find).found; found.Works() != step.reports || looked != step.looked {
				t.Errorf("step %d: %+v after %d searches", i, found, looked)
			}
		}
	})
}

// A command that starts processes until it is stopped leaves none of them, and the next
// one runs.
func TestAForkingCommandIsStopped(t *testing.T) {
	t.Parallel()
	everyNamespace(t, func(t *testing.T, by enforcer) {
		y := newYard(t)
		y.by = by
		spec := y.spec(`grow() { for i in 1 2 3; do grow & done; sleep 300; }; (ulimit -u 500; grow)`)
		spec.Confine, spec.Timeout = &y.profile, time.Second
		if r := y.run(t, spec); !r.TimedOut {
			t.Errorf("it ended: %+v", r)
		}
		if r := y.confined(t, `echo alive; ls -d /proc/[0-9]* | wc -l`); !strings.HasPrefix(r.Stdout, "alive\n") || len(strings.TrimSpace(r.Stdout)) > len("alive\n99") {
			t.Errorf("the next command: %s", r.Stdout)
		}
	})
}
