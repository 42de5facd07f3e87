package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Shared memory is the command's own, except for a project that is there.
func TestAProjectInSharedMemory(t *testing.T) {
	t.Parallel()
	everyNamespace(t, func(t *testing.T, by enforcer) {
		base, err := os.MkdirTemp("/dev/shm", "yard")
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(base) })
		y := newYard(t)
		y.by, y.project = by, filepath.Join(base, "project")
		if err := os.MkdirAll(filepath.Join(y.project, ".git"), 0o755); err != nil {
			t.Fatal(err)
		}
		y.profile.Writable, y.profile.Protected = []string{y.project}, []string{filepath.Join(y.project, ".git")}
		r := y.confined(t, `ls /dev/shm; echo x >new && echo x >.git/new || echo kept; echo x >../beside`)
		entries, err := os.ReadDir(base)
		if !strings.HasPrefix(r.Stdout, filepath.Base(base)+"\n") || !strings.Contains(r.Stdout, "kept") || err != nil || len(entries) != 1 {
			t.Errorf("%s%v, %v", r.Stdout, entries, err)
		}
	})
}

// An administrator's command uses the machine's devices, but does not say who else
// may: not by their names, and not through its own input.
func TestDevicesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.by = needsLauncher(t)
	if r := y.confined(t, `for d in null zero full random urandom tty; do chmod 666 /dev/$d && echo changed; done; chmod 666 /dev/stdin && echo changed
		[ -c /dev/stdin ] && cat && echo x >/dev/null && : >>/dev/null && head -c1 /dev/zero >/dev/null && echo works`); strings.Contains(r.Stdout, "changed\n") || !strings.Contains(r.Stdout, "works") {
		t.Error(r.Stdout)
	}
}
