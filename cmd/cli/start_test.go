package cli

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// The initialisation of our packages is small, because every start waits for it. What is
// costly, such as a pattern with long repetitions, is made when it is first needed.
func TestPackagesBeginSmall(t *testing.T) {
	const limit = 512 << 10
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	trace, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, trace)
	}
	inits := regexp.MustCompile(`(?m)^init (atelier\.dev/\S+) @.* (\d+) bytes`).FindAllStringSubmatch(string(trace), -1)
	if len(inits) < 20 {
		t.Fatalf("only %d of our packages are initialised: %s", len(inits), trace)
	}
	for _, m := range inits {
		if n, err := strconv.Atoi(m[2]); err != nil || n > limit {
			t.Errorf("%s allocates %s bytes before the program begins (%v), want at most %d", m[1], m[2], err, limit)
		}
	}
}
