//go:build unix

package journal

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
)

// A file that changed so soon after it was read that its size and times are the same
// is read again, while one that is older is not.
func TestChangesWithinATick(t *testing.T) {
	t.Parallel()
	for _, recent := range []bool{true, false} {
		folder := t.TempDir()
		name := filepath.Join(folder, "a")
		write := func(text string) {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("1")
		j := Open(t.TempDir())
		defer j.Close()
		end := j.Recorder("s", folder).Begin(t.Context(), "1", agent.GateCall{Tool: "Bash"})
		write("2")
		info, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		known := j.tree(folder).top.files["a"]
		known.stamp, known.recent = stampOf(info), recent // as a coarse clock has it
		if got := end(t.Context()); (got != nil) != recent {
			t.Errorf("recent %v: %+v", recent, got)
		}
	}
}

func TestRecent(t *testing.T) {
	t.Parallel()
	at := time.Unix(1000, 500)
	for _, c := range []struct {
		changed, touched, later time.Duration
		recent                  bool
	}{
		{0, 0, tick - 1, true}, {0, 0, tick, false}, {-time.Hour, 0, tick - 1, true}, {-time.Hour, 0, tick, false},
		{-500, -500, tick, true}, {-500, -500, coarseTick, false}, {time.Hour, time.Hour, 0, true},
	} {
		since := time.Duration(at.UnixNano())
		s := stamp{changed: since + c.changed, touched: since + c.touched}
		if got := s.recent(at.Add(c.later)); got != c.recent {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
