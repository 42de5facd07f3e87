package sandbox

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/sandbox/confine"
)

// K-47: of the attempts to get out in testdata/attempts.txt, each a command of its own, none
// changes, shows or reaches what is not the command's.
func TestAttemptsToGetOut(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/attempts.txt")
	if err != nil {
		t.Fatal(err)
	}
	const wanted = 220
	if all, _ := attempts(string(text)); len(all) < wanted {
		t.Fatalf("%d attempts, want %d", len(all), wanted)
	}
	everyMeans(t, func(t *testing.T, y *yard) {
		all, held := attempts(strings.ReplaceAll(string(text), "CANARY", canary))
		if y.by.level().By == confine.Landlock {
			all = held
		}
		before := y.kept(t)
		for i, line := range all {
			r := y.confined(t, "PATH=/usr/bin:/bin:$PATH; "+line) // no wrapper of a python3, which takes long
			settle()
			if strings.Contains(r.Stdout, canary) {
				t.Errorf("%s: a secret is shown, or something reached:\n%s", line, r.Stdout)
			}
			if diff := cmp.Diff(before, y.kept(t)); diff != "" {
				t.Fatalf("%s: (-before +after)\n%s\n%s", line, diff, r.Stdout)
			}
			if n := y.reached.Swap(0); n != 0 {
				t.Errorf("%s: %d connections:\n%s", line, n, r.Stdout)
			}
			y.tidy(t)
			if i%40 == 0 || i == len(all)-1 {
				if r := y.free(t, "GIT_OPTIONAL_LOCKS=0 git status --porcelain"); r.Stdout != "" {
					t.Fatalf("%s: git sees:\n%s", line, r.Stdout)
				}
			}
		}
	})
}

// attempts returns the lines of a table, and those that Landlock alone holds as well.
func attempts(text string) (all, held []string) {
	namespaces := false
	for line := range strings.Lines(text) {
		switch line = strings.TrimSuffix(line, "\n"); {
		case line == "":
		case strings.HasPrefix(line, "# "):
			namespaces = strings.HasSuffix(line, "namespaces:")
		default:
			all = append(all, line)
			if !namespaces {
				held = append(held, line)
			}
		}
	}
	return all, held
}
