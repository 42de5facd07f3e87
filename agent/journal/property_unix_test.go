//go:build unix

package journal_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
)

// picture is all that stands in a folder, read whole.
func (b *bench) picture() map[string]string {
	b.Helper()
	all := map[string]string{}
	b.must(filepath.WalkDir(b.folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(b.folder, name)
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(name)
			all[rel] = fmt.Sprintf("link %q", target)
			return err
		}
		text, err := os.ReadFile(name)
		kind := agent.PlainFile
		if info.Mode()&0o100 != 0 {
			kind = agent.ExecutableFile
		}
		all[rel] = fmt.Sprintf("%s %q", kind, text)
		return err
	}))
	return all
}

// differences writes what differs between two pictures as told does.
func differences(before, after map[string]string) (lines []string) {
	text := func(s string) string {
		if s == "" {
			return "nothing"
		}
		return s
	}
	for name, was := range before {
		if after[name] != was {
			lines = append(lines, fmt.Sprintf("%s: %s -> %s", name, was, text(after[name])))
		}
	}
	for name, is := range after {
		if before[name] == "" {
			lines = append(lines, fmt.Sprintf("%s: nothing -> %s", name, is))
		}
	}
	slices.SortFunc(lines, func(a, b string) int {
		x, _, _ := strings.Cut(a, ": ")
		y, _, _ := strings.Cut(b, ": ")
		return strings.Compare(x, y)
	})
	return lines
}

// muddle changes a folder at random. Much of it leaves sizes and times as they are.
func (b *bench) muddle(random *rand.Rand) {
	name := func() string {
		parts := make([]string, 1+random.IntN(3))
		for i := range parts {
			parts[i] = string(rune('a' + random.IntN(4)))
		}
		return b.path(strings.Join(parts, "/"))
	}
	at := name()
	switch random.IntN(12) {
	case 0:
		_ = os.RemoveAll(at)
	case 1:
		_ = os.Rename(at, name())
	case 2:
		_ = os.MkdirAll(at, 0o755)
	case 3:
		_ = os.Symlink(name(), at)
	case 4:
		_ = os.Link(at, name())
	case 5:
		_ = os.Chmod(at, []fs.FileMode{0o644, 0o755}[random.IntN(2)])
	case 6: // as an editor does
		if os.WriteFile(at+"~", []byte{byte('0' + random.IntN(10))}, 0o644) == nil {
			_ = os.Rename(at+"~", at)
		}
	case 7: // with the times of before
		info, err := os.Lstat(at)
		if err == nil && info.Mode().IsRegular() && os.WriteFile(at, []byte{byte('0' + random.IntN(10))}, 0o644) == nil {
			_ = os.Chtimes(at, info.ModTime(), info.ModTime())
		}
	default:
		_ = os.MkdirAll(filepath.Dir(at), 0o755)
		_ = os.WriteFile(at, []byte{byte('0' + random.IntN(10))}, 0o644)
	}
}

// The journal's record of random commands equals a comparison of the whole folder
// before and after, whatever others do in between.
func TestTheJournalTellsTheTruth(t *testing.T) {
	t.Parallel()
	both(t, "random", func(t *testing.T, sweeps bool) {
		b := newBench(t, map[string]string{"a/a": "1", "b": "2"})
		b.sweeps = sweeps
		b.reopen()
		for seed := range 40 {
			random := rand.New(rand.NewPCG(uint64(seed), 1))
			for range random.IntN(4) {
				b.muddle(random)
			}
			if random.IntN(20) == 0 {
				b.reopen()
			}
			var before map[string]string
			got := b.command(func() {
				before = b.picture()
				for range 1 + random.IntN(12) {
					b.muddle(random)
				}
			})
			if diff := cmp.Diff(differences(before, b.picture()), b.told(got)); diff != "" {
				t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
			}
		}
	})
}

// Everything that a command did is known as soon as it has ended: the kernel has
// queued it. Nothing waits for it to arrive.
func TestNothingIsLateAfterACommand(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "0"})
	for i := range 40 {
		got := b.command(func() { b.write("a", fmt.Sprint(i%10)); b.write(fmt.Sprint("d/", i), "") })
		if got == nil || len(got.Files) < 1 || got.Unwatched {
			t.Fatalf("after %d commands: %+v", i, got)
		}
		if i > 0 && len(got.Files) != 2 {
			t.Fatalf("after %d commands: %q", i, b.told(got))
		}
	}
}
