package serve

import (
	"strconv"
	"strings"
	"testing"
)

// The replies that are kept are bounded in number and in size.
func TestKeptRepliesAreBounded(t *testing.T) {
	t.Parallel()
	var o once
	runs := 0
	call := func(key, reply string) string {
		return o.reply(key, func() string { runs++; return reply })
	}
	for n := range 3 * maxKept {
		call(strconv.Itoa(n), "{}")
	}
	if len(o.calls) != maxKept || len(o.keys) != maxKept {
		t.Errorf("%d calls and %d keys are kept", len(o.calls), len(o.keys))
	}
	long := strings.Repeat("x", maxKeptReply+1)
	if got := call("long", long); got != long {
		t.Error("the first reply was cut")
	}
	before := runs
	if got := call("long", long); got != tooLong || runs != before {
		t.Errorf("repeated: %d bytes after %d more runs", len(got), runs-before)
	}
}
