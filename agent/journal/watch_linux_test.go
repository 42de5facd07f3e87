package journal_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// More changes than the kernel's queue holds make the journal look at everything.
func TestTheQueueOverflows(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Fatal(err)
	}
	most, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || most > 100_000 {
		t.Skip("the queue is very long")
	}
	b := newBench(t, map[string]string{"a": "1", "b": "1", "c": "1", "d/e": "1"})
	b.command(func() {})
	got := b.command(func() {
		for i := range most/2 + 10 { // two names in turn, so that events do not merge
			b.must(os.Chmod(b.path([]string{"a", "b"}[i%2]), 0o644))
			b.must(os.Chmod(b.path("c"), 0o644))
		}
		b.write("d/e", "2")
		b.write("new/f", "2")
	})
	b.expect(got, `d/e: file "1" -> file "2"`, `new/f: nothing -> file "2"`)
	b.expect(b.command(func() { b.write("new/f", "3") }), `new/f: file "2" -> file "3"`)
}

// A folder of more directories than may be watched is looked at each time.
func TestTooManyDirectoriesAreNotWatched(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1", "d1/e": "1", "d2/e": "1"})
	b.journal.Cramp(3)
	b.expect(b.command(func() { b.write("d2/e", "2") }), `d2/e: file "1" -> file "2"`)
	b.expect(b.command(func() { b.write("d3/d4/e", "1"); b.write("a", "2") }), `a: file "1" -> file "2"`, `d3/d4/e: nothing -> file "1"`)
}

// A directory that is swapped for a link while it is looked at is not followed.
func TestSwappedDirectoriesAreNotFollowed(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	if err := os.WriteFile(outside+"/secret", []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	both(t, "swapped", func(t *testing.T, sweeps bool) {
		b := newBench(t, map[string]string{"d/f": "1"})
		b.sweeps = sweeps
		b.reopen()
		stop, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for {
				select {
				case <-stop:
					return
				default:
				}
				_ = os.Rename(b.path("d"), b.path("e"))
				_ = os.Symlink(outside, b.path("d"))
				_ = os.Remove(b.path("d"))
				_ = os.Rename(b.path("e"), b.path("d"))
			}
		}()
		for i := range 30 {
			got := b.told(b.command(func() { b.write("x", fmt.Sprint(i)) }))
			if slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, "secret") }) {
				t.Errorf("a link was followed: %q", got)
			}
		}
		close(stop)
		<-done
	})
}

// The folder itself may go, and come back.
func TestTheFolderGoesAndComesBack(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "1", "d/b": "1"})
	b.command(func() {})
	got := b.command(func() {
		b.must(os.Rename(b.folder, b.folder+".old"))
		b.write("a", "2")
	})
	b.must(os.RemoveAll(b.folder + ".old"))
	b.expect(got, `a: file "1" -> file "2"`, `d/b: file "1" -> nothing`)
	b.expect(b.command(func() { b.write("a", "3") }), `a: file "2" -> file "3"`)
	b.write("d/c", "1")
	_ = b.command(func() {})
	b.expect(b.command(func() { b.must(os.RemoveAll(b.folder)) }), `a: file "3" -> nothing`, `d/c: file "1" -> nothing`)
	b.expect(b.command(func() {}))
	b.write("a", "4")
	_ = b.command(func() {})
	b.expect(b.command(func() { b.write("a", "5") }), `a: file "4" -> file "5"`)
}
