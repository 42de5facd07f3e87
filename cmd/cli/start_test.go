package cli

import (
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime/metrics"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"atelier.dev/atelier/agent"
)

// The initialisation of packages is small, because every start waits for it. What is
// costly, such as a pattern with long repetitions, is made when it is first needed, and a
// package of others that does not wait is replaced (third_party/jsonschema).
func TestPackagesBeginSmall(t *testing.T) {
	const limit = 512 << 10
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	trace, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, trace)
	}
	inits := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes`).FindAllStringSubmatch(string(trace), -1)
	if len(inits) < 100 {
		t.Fatalf("only %d packages are initialised: %s", len(inits), trace)
	}
	for _, m := range inits {
		if n, err := strconv.Atoi(m[2]); err != nil || n > limit {
			t.Errorf("%s allocates %s bytes before the program begins (%v), want at most %d", m[1], m[2], err, limit)
		}
	}
}

func percentage() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// The collector waits during a start, and only then; what the user set is left alone.
func TestCollectionWaitsForTheStart(t *testing.T) {
	usual := percentage()
	for set, want := range map[string]uint64{"": startGarbage, "100": usual} {
		t.Setenv("GOGC", set)
		synctest.Test(t, func(t *testing.T) {
			collectLater()
			if got := percentage(); got != want {
				t.Errorf("GOGC=%s: %d %% at the start, want %d", set, got, want)
			}
			time.Sleep(startTime)
			synctest.Wait()
			if got := percentage(); got != usual {
				t.Errorf("GOGC=%s: %d %% after the start, want %d", set, got, usual)
			}
		})
	}
}

// A start is over when the first answer begins.
func TestFirstAnswerEndsTheStart(t *testing.T) {
	t.Setenv("GOGC", "")
	usual := percentage()
	synctest.Test(t, func(t *testing.T) {
		o := observer{report: &textReport{out: io.Discard, progress: io.Discard}, out: newGather(io.Discard), started: starting()}
		o.event(agent.Event{Session: "s", Data: agent.Briefing{}})
		if got := percentage(); got != startGarbage {
			t.Errorf("%d %% before the answer, want %d", got, startGarbage)
		}
		o.event(agent.Event{Session: "s", Data: agent.TextStart{}})
		if got := percentage(); got != usual {
			t.Errorf("%d %% when the answer begins, want %d", got, usual)
		}
	})
}
