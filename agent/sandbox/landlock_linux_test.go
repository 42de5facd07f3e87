package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/sandbox/confine"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// The level of a kernel depends on its version. Without the launcher the
// level says why.
func TestLandlockVersions(t *testing.T) {
	t.Parallel()
	missing := confine.Level{Lack: confine.LackMissing}
	for _, row := range []struct {
		version, errata int
		lack            confine.Lack
		works           bool
	}{
		{0, 0, confine.LackMissing, false},
		{2, 0, confine.LackMissing, false}, // a file outside could be emptied
		{3, 0, confine.LackSignals, true},
		{5, landlockSignalsMended, confine.LackSignals, true},
		{6, 0, confine.LackSignals, true}, // this program's threads would be cut off from each other
		{6, landlockSignalsMended, confine.LackMounts, true},
		{7, 7, confine.LackMounts, true},
	} {
		got := landlockOf(row.version, row.errata, missing).level()
		if got.Works() != row.works || got.Lack != row.lack || got.Whole() || got.Processes {
			t.Errorf("version %d, errata %d: %+v", row.version, row.errata, got)
		}
		if got.Works() && (!strings.Contains(got.Sentence(), "landlock") || !strings.Contains(got.Detail, "has no launcher")) {
			t.Errorf("version %d: %s %s", row.version, got.Sentence(), got.Detail)
		}
	}
}

// A folder's rights hold for everything in it, so a folder gets only the rights
// that all of its contents have.
func TestTerritory(t *testing.T) {
	t.Parallel()
	base, err := os.MkdirTemp("/var/tmp", "territory")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	for _, name := range []string{"home/.ssh/id", "home/open", "home/p/.git/config", "home/p/main.go", "home/p/sub/deep/key", "home/p/sub/other", "free/a"} {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(".ssh", filepath.Join(base, "home/way")); err != nil {
		t.Fatal(err)
	}
	in := func(names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(base, name))
		}
		return paths
	}
	where, err := territoryOf(confine.Profile{
		Temp: base + "/free", Writable: in("home/p"), Protected: in("home/p/.git", "home/p/.agent"),
		Hidden: in("home/.ssh", "home/.absent", "home/p/sub/deep/key"),
	}, base+"/home/p")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]access{}
	err = where.grant(func(path string, a access) error {
		if rel, err := filepath.Rel(base, path); err == nil && filepath.IsLocal(rel) {
			got[rel] = max(got[rel], a)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]access{
		"free": changeable, "home/open": readable, "home/p/.git": readable, "home/p/.agent": readable,
		"home/p": listed, "home/p/sub": listed, "home/p/sub/deep": listed, "home/p/sub/deep/key": listed,
		"home/p/main.go": changeable, "home/p/sub/other": changeable,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(in("home/p", "home/p/sub", "home/p/sub/deep"), where.frozen()); diff != "" {
		t.Errorf("frozen (-want +got)\n%s", diff)
	}
}

// A command that may change nothing does not change modes and times either.
func TestLandlockKeepsModesOfReadOnlyCommands(t *testing.T) {
	t.Parallel()
	l := findLandlock(confine.Level{})
	if !l.level().Works() {
		t.Skip(l.level().Sentence())
	}
	y := newYard(t)
	y.by, y.profile = l, confine.Profile{}
	before := y.kept(t)
	r := y.confined(t, `chmod 0 BASE/outside/file main.go; touch -d 1999-01-01 BASE/outside/file; chmod -R 700 BASE/outside; setfattr -n user.x -v y BASE/outside/file; echo x >$TMPDIR/x && cat $TMPDIR/x`)
	if diff := cmp.Diff(before, y.kept(t)); diff != "" || r.ExitCode != 0 || !strings.Contains(r.Stdout, "Operation not permitted") {
		t.Errorf("(-before +after)\n%s\n%s", diff, r.Stdout)
	}
	if info, err := os.Stat(y.base + "/outside/file"); err != nil || info.ModTime().Year() < 2000 {
		t.Errorf("%v, %v", info, err)
	}
}

// A profile with a network has one, and keeps the rest.
func TestLandlockWithNetwork(t *testing.T) {
	t.Parallel()
	l := findLandlock(confine.Level{})
	if !l.level().Works() {
		t.Skip(l.level().Sentence())
	}
	y := newYard(t)
	y.by, y.profile.Network = l, confine.NetworkFull
	r := y.confined(t, `exec 3<>/dev/tcp/127.0.0.1/PORT && read <&3; cat ~/.netrc; echo x >BASE/outside/file`)
	if y.reached.Load() != 1 || strings.Contains(r.Stdout, canary) {
		t.Errorf("%d connections\n%s", y.reached.Load(), r.Stdout)
	}
}

// Only the thread that starts a command gives up its rights, also if the work
// began on the program's first thread.
func TestOwnThreadEnds(t *testing.T) {
	t.Parallel()
	const privileged = "NoNewPrivs:\t0"
	if status, err := os.ReadFile("/proc/self/status"); err != nil || !strings.Contains(string(status), privileged) {
		t.Skip("this program has no privileges to give up")
	}
	for range 20 {
		var thread int
		err := onOwnThread(func() error {
			thread = unix.Gettid()
			return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		})
		if err != nil || thread == unix.Getpid() {
			t.Fatalf("thread %d of %d: %v", thread, unix.Getpid(), err)
		}
	}
	// Other threads keep their rights, whichever runs this.
	status, err := os.ReadFile("/proc/thread-self/status")
	if err != nil || !strings.Contains(string(status), privileged) {
		t.Errorf("%s, %v", status, err)
	}
}
